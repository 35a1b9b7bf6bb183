"""dm-tree: structures of tensors."""

import tensorflow as tf
import tree

value = {"a": tf.constant([1, 2]), "b": (tf.constant(3.0), [tf.constant(4)])}
print("flat", [v.numpy().tolist() for v in tree.flatten(value)])
print("paths", [p for p, _ in tree.flatten_with_path(value)])
doubled = tree.map_structure(lambda v: v * 2, value)
print("doubled", tree.map_structure(lambda v: v.numpy().tolist(), doubled))
