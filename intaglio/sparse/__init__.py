"""Sparse tensors: values with their indices, and what functions of tensors make of them.

`tensor` is the class, `spec` its type, `handlers` the dispatch targets of public functions.
"""
