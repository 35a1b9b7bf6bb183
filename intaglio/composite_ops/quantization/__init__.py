"""Numbers as quantized integers, of `tf.quantization`."""
