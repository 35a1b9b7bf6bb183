"""Graphs to TensorFlow's protocol buffers and back."""
