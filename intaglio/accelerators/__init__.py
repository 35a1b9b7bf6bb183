"""Tensors, variables and ops on GPUs and other accelerators: each op and function is a program of XLA."""
