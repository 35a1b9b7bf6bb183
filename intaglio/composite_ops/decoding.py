"""Strings decoded as numbers and records.

Follows https://www.tensorflow.org/api_docs/python/tf/io.
"""

from __future__ import annotations

import itertools
from typing import Any

from intaglio.base.dtypes import as_dtype
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: Any = None,
    name: str | None = None,
) -> Tensor:
    """Strings as the bytes of numbers: their shape with one dimension more.

    With `fixed_length`, strings are cut to so many bytes or filled up with zeros; without
    it they must be of one length. Raises InvalidArgumentError for a length that is no
    multiple of the dtype's size.

    `little_endian` is the order of the bytes.

    >>> tf.io.decode_raw(["abcd", "efgh"], tf.uint8).numpy()
    array([[ 97,  98,  99, 100],
           [101, 102, 103, 104]], dtype=uint8)
    """
    dtype = as_dtype(out_type)
    if fixed_length is None:
        return raw.DecodeRaw(input_bytes, out_type=dtype, little_endian=little_endian, name=name)
    return raw.DecodePaddedRaw(
        input_bytes, fixed_length, out_type=dtype, little_endian=little_endian, name=name
    )


@dispatchable
def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Tensor]:
    """Records of comma-separated values as one tensor for each field.

    Args:
      records: strings of any shape, one record each; every result has this shape.
      record_defaults: for each field, the value of an empty one; its dtype is the
        field's (float32, float64, int32, int64 or string). An empty list means that the
        field is required.
      field_delim: the character between fields.
      use_quote_delim: quotes around a field let it hold delimiters and ends of lines.
      na_value: further text that means an empty field.
      select_cols: the numbers of the fields wanted, increasing.

    Raises InvalidArgumentError for records that do not fit.

    >>> a, b = tf.io.decode_csv(["1,x", ",y"], [[7], [""]])
    >>> a.numpy().tolist(), b.numpy().tolist()
    ([1, 7], [b'x', b'y'])
    """
    chosen = [] if select_cols is None else list(select_cols)
    if any(a >= b for a, b in itertools.pairwise(chosen)):
        raise ValueError("select_cols is not strictly increasing.")
    if chosen and chosen[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if chosen and len(chosen) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    found = raw.DecodeCSV(
        records,
        [convert.to_tensor(d) for d in record_defaults],
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=chosen,
        name=name,
    )
    return [found] if isinstance(found, Tensor) else list(found)


__all__ = ["decode_csv", "decode_raw"]
