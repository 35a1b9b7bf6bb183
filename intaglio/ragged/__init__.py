"""Ragged tensors: rows of different lengths, and the functions on them.

`partition` cuts a sequence into rows, `tensor` is values with partitions, the other modules
are functions on them; `handlers` maps public functions to them.
"""
