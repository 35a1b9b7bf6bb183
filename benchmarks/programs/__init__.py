"""Whole programs, as users write them, against TensorFlow: see `python -m benchmarks.programs`."""
