"""Programs whose answers were recorded on TensorFlow."""
