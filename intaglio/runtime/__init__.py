"""Execution: eager tensors, the graph interpreter, resources, random numbers."""
