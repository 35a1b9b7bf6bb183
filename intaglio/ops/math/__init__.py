"""Elementwise mathematics, reductions, scans and segments."""
