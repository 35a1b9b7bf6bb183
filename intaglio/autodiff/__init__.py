"""Gradients: tapes, forward accumulators, derivatives of graphs."""
