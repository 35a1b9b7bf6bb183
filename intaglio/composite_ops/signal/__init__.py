"""Signals: Fourier and cosine transforms, frames, windows, mel scales."""
