"""Serialized `tf.train.SequenceExample`s as tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/io/parse_sequence_example.
"""

from __future__ import annotations

from typing import Any


def parse_sequence_example(
    serialized: Any, context_features: Any = None, sequence_features: Any = None,
    example_names: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Raises NotImplementedError: sequences of features are not read yet."""
    raise NotImplementedError(
        "tf.io.parse_sequence_example: take the records apart in a py_function, with "
        "tf.train.SequenceExample.FromString"
    )


def parse_single_sequence_example(
    serialized: Any, context_features: Any = None, sequence_features: Any = None,
    example_name: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Raises NotImplementedError: sequences of features are not read yet."""
    raise NotImplementedError(
        "tf.io.parse_single_sequence_example: take the records apart in a py_function, with "
        "tf.train.SequenceExample.FromString"
    )


__all__ = ["parse_sequence_example", "parse_single_sequence_example"]
