"""Strings: `tf.strings`.

Follows https://www.tensorflow.org/api_docs/python/tf/strings. A string is bytes; functions
with a `unit` or an `encoding` look at UTF-8 characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from intaglio.base import later
from intaglio.base.dtypes import float32
from intaglio.composite_ops.strings import (
    as_string,
    format,
    reduce_join,
    regex_full_match,
    regex_replace,
)
from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor

if TYPE_CHECKING:
    from intaglio.tf.ragged.splitting import bytes_split as bytes_split
    from intaglio.tf.ragged.splitting import ngrams as ngrams
    from intaglio.tf.ragged.splitting import split as split
    from intaglio.tf.ragged.unicode import unicode_decode as unicode_decode
    from intaglio.tf.ragged.unicode import (
        unicode_decode_with_offsets as unicode_decode_with_offsets,
    )
    from intaglio.tf.ragged.unicode import unicode_encode as unicode_encode
    from intaglio.tf.ragged.unicode import unicode_script as unicode_script
    from intaglio.tf.ragged.unicode import unicode_split as unicode_split
    from intaglio.tf.ragged.unicode import unicode_split_with_offsets as unicode_split_with_offsets


@dispatchable
def join(inputs: Any, separator: str | None = "", name: str | None = None) -> Tensor:
    """Strings joined elementwise; scalars are broadcast.

    Raises InvalidArgumentError (ValueError in a graph) for shapes that differ.

    >>> print(tf.strings.join([["a", "b"], "c"], separator="-").numpy())
    [b'a-c' b'b-c']
    """
    return raw.StringJoin(inputs, separator=separator or "", name=name)


@dispatchable
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes, or with `unit="UTF8_CHAR"` of characters; int32.

    >>> print(tf.strings.length(["abc", "größe"]).numpy())
    [3 7]
    """
    return raw.StringLength(input, unit=unit, name=name)


@dispatchable
def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Lower case: of ASCII letters, or with `encoding="utf-8"` of all.

    >>> print(tf.strings.lower(["ABC"]).numpy())
    [b'abc']
    """
    return raw.StringLower(input, encoding=encoding, name=name)


@dispatchable
def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Upper case: of ASCII letters, or with `encoding="utf-8"` of all.

    >>> print(tf.strings.upper(["abc"]).numpy())
    [b'ABC']
    """
    return raw.StringUpper(input, encoding=encoding, name=name)


@dispatchable
def strip(input: Any, name: str | None = None) -> Tensor:
    """Without white space at both ends.

    >>> print(tf.strings.strip(["  a b  "]).numpy())
    [b'a b']
    """
    return raw.StringStrip(input, name=name)


@dispatchable
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """`len` bytes or characters from `pos` on; a negative `pos` counts from the end.

    `pos` and `len` have one shape, which broadcasts with `input`'s. Raises
    InvalidArgumentError for a position outside the string.

    `unit` is "BYTE" or "UTF8_CHAR".

    >>> print(tf.strings.substr(["hello", "world"], 1, 3).numpy())
    [b'ell' b'orl']
    """
    return raw.Substr(input, pos, len, unit=unit, name=name)


@dispatchable
def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> Tensor:
    """Text as float32, float64, int32, int64, uint32 or uint64.

    Raises InvalidArgumentError for text that is no such number.

    >>> print(tf.strings.to_number(["1.5", "-2"]).numpy())
    [ 1.5 -2. ]
    """
    return raw.StringToNumber(input, out_type=out_type, name=name)


@dispatchable
def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A hash of each string modulo the number of buckets; int64.

    It may differ between versions of TensorFlow: `to_hash_bucket_fast` does not.

    >>> print(tf.strings.to_hash_bucket(["a", "b"], 10).numpy())
    [8 0]
    """
    return raw.StringToHashBucket(input, num_buckets=num_buckets, name=name)


@dispatchable
def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A quick hash of each string modulo the number of buckets; int64.

    >>> print(tf.strings.to_hash_bucket_fast(["a", "b"], 10).numpy())
    [9 2]
    """
    return raw.StringToHashBucketFast(input, num_buckets=num_buckets, name=name)


@dispatchable
def to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Any, name: str | None = None
) -> Tensor:
    """A hash with a key of two integers, modulo the number of buckets; int64.

    >>> print(tf.strings.to_hash_bucket_strong(["a", "b"], 10, key=[1, 2]).numpy())
    [6 4]
    """
    return raw.StringToHashBucketStrong(input, num_buckets=num_buckets, key=key, name=name)


@dispatchable
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Text from one encoding to UTF-8, UTF-16-BE or UTF-32-BE.

    Raises InvalidArgumentError for an unknown encoding, and for malformed text if `errors`
    is "strict".

    `errors` says what is done with invalid input: "strict" raises InvalidArgumentError, "ignore"
    drops it, "replace" puts the code point `replacement_char` in its position. With
    `replace_control_characters` so are the control characters up to U+001F.

    >>> wide = tf.strings.unicode_transcode(["abc"], "UTF-8", "UTF-32-BE")
    >>> print(tf.strings.length(wide).numpy())
    [12]
    """
    return raw.UnicodeTranscode(
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )


@dispatchable
def unsorted_segment_join(
    inputs: Any,
    segment_ids: Any,
    num_segments: Any,
    separator: str | None = "",
    name: str | None = None,
) -> Tensor:
    """The strings of each segment joined.

    Raises InvalidArgumentError for an identifier outside [0, num_segments).

    >>> print(
    ...     tf.strings.unsorted_segment_join(
    ...         ["a", "b", "c"], [1, 0, 1], 2, separator=":"
    ...     ).numpy()
    ... )
    [b'b' b'a:c']
    """
    return raw.UnsortedSegmentJoin(
        inputs, segment_ids, num_segments, separator=separator or "", name=name
    )


__all__ = [
    "as_string", "format", "join", "length", "lower", "reduce_join", "regex_full_match",
    "regex_replace", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast",
    "to_hash_bucket_strong", "to_number",
    "unicode_transcode", "unsorted_segment_join", "upper",
]  # fmt: skip
# Functions that give ragged tensors.
_CUT, _UNICODE = "intaglio.tf.ragged.splitting", "intaglio.tf.ragged.unicode"
LATER = {
    **{name: f"{_CUT}:{name}" for name in ("bytes_split", "ngrams", "split")},
    **{
        name: f"{_UNICODE}:{name}"
        for name in (
            "unicode_decode",
            "unicode_decode_with_offsets",
            "unicode_encode",
            "unicode_script",
            "unicode_split",
            "unicode_split_with_offsets",
        )
    },
}
__all__ += [*LATER]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
