"""Summaries for TensorBoard: writers, kinds of summaries, traces of graphs."""
