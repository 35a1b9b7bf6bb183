"""Graphs as XLA programs."""
