"""Algorithms as loops over elements, for ops that have no other expression in a library (`ops/restricted.py`)."""
