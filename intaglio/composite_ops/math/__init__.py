"""Casts and complex numbers."""
