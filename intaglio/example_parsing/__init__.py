"""Serialized `tf.train.Example`s and `SequenceExample`s read as tensors of all kinds.

`features` describes what is to be parsed, `examples` and `sequence_examples` parse it.
"""
