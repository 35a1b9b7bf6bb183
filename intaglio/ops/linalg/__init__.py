"""Matrices: products, factorisations, functions of matrices."""
