"""`tf2onnx.tfonnx`: Keras sets a function here that adapts tf2onnx to NumPy 2. Nothing calls it."""
