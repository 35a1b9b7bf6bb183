"""Signals: Fourier transforms and sound."""
