"""`tf.experimental.dtensor`: tensors divided among the devices of a mesh, by the partitioner of XLA."""
