"""`tf.function`: trace types, signatures, the trace cache, concrete functions."""
