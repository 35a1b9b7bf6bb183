"""Kernels for whole arrays: products, convolutions, pooling, reductions, softmax, sorting, random bits."""
