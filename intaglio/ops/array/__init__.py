"""Creation, indexing, joining, reshaping and sorting of arrays."""
