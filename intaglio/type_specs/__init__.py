"""Types of values: trace types, type specs, extension types, TensorArray."""
