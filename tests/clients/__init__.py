"""Libraries that say `import tensorflow`, run on Intaglio and on TensorFlow."""
