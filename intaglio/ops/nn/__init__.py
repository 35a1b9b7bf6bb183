"""Neural networks: activations, convolutions, pooling, normalisation, losses, training steps."""
