"""TensorFlow 1's names: where they are today, and what is left of their own behaviour."""
