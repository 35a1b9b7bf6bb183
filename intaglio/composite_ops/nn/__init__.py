"""Neural networks: convolutions, pooling, losses, normalization, dropout, embeddings."""
