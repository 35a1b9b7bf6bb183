"""Products, norms and decompositions of matrices."""
