"""Automatic promotion of types: the lattice, weak tensors, and the promotion of operands.

Off unless `tf.experimental.numpy.experimental_enable_numpy_behavior` turns it on, and nothing
outside of this folder depends on it then.
"""
