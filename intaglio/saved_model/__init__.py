"""Models and checkpoints on disk, in TensorFlow's formats."""
