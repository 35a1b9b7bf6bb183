"""Answers recorded from TensorFlow, and the scripts that recorded them."""
