"""Automatic promotion of types: the lattice, weak tensors, and where operands meet it.

Off unless `tf.experimental.numpy.experimental_enable_numpy_behavior` turns it on, and nothing
outside of this folder knows of it then.
"""
