"""Doing it now: eager tensors, the graph interpreter, resources, random numbers."""
