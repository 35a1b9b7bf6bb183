"""Serialized `tf.train.Example`s and `SequenceExample`s read as tensors of all kinds.

`features` says what is to be read, `examples` and `sequence_examples` read it.
"""
