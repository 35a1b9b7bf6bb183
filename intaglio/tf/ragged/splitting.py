"""Strings cut into words, bytes and runs of neighbours.

Follows https://www.tensorflow.org/api_docs/python/tf/strings. Functions of strings in ragged
tensors or tensors of any rank give one dimension more, which is ragged.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef.dispatch import dispatchable
from intaglio.ragged import strings


@dispatchable
def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of strings between separators, by default between white space.

    `maxsplit` is the most cuts for each string. A scalar gives a vector. Raises TypeError
    for what are no strings.

    `sep` is the separator; None is white space.

    https://www.tensorflow.org/api_docs/python/tf/strings/split

    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    return strings.split(input, sep, maxsplit, name)


@dispatchable
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of strings. A scalar gives a vector.

    https://www.tensorflow.org/api_docs/python/tf/strings/bytes_split

    >>> tf.strings.bytes_split(["ab", ""])
    <tf.RaggedTensor [[b'a', b'b'], []]>
    """
    return strings.bytes_split(input, name)


@dispatchable
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Runs of `ngram_width` neighbours in each innermost row, joined with the separator.

    `ngram_width` is a number or a tuple of several. `pad_values` are the paddings before and
    after a row, `padding_width` of them at most; `preserve_short_sequences` keeps rows that
    are too short as they are. Raises ValueError for widths below 1.

    https://www.tensorflow.org/api_docs/python/tf/strings/ngrams

    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    return strings.ngrams(
        data, ngram_width, separator, pad_values, padding_width, preserve_short_sequences, name
    )


__all__ = ["bytes_split", "ngrams", "split"]
