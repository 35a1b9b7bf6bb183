"""Analyses of graphs for passes and lowering, before any code is emitted."""
