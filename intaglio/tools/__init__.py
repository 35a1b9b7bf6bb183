"""The command line: TensorFlow programs as they are, run on Intaglio."""
