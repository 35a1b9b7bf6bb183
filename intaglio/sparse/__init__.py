"""Sparse tensors: values with their indices, and the functions on them.

`tensor` is the class, `spec` its type, `handlers` the dispatch targets of public functions.
"""
