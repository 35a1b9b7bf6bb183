"""Unmodified Keras 3, and TensorFlow programs as they are, on Intaglio."""
