"""Functions of strings that take ragged tensors, or give them.

Follows https://www.tensorflow.org/api_docs/python/tf/strings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import broadcasting, core, densities
from intaglio.ragged.core import Ragged
from intaglio.trace.scopes import name_scope


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """The strings of all operands joined element by element."""
    operands = [x if isinstance(x, (Ragged, Tensor)) else convert.to_tensor(x) for x in inputs]
    flats, partitions = broadcasting.together(operands)
    return core.nested(raw.StringJoin(flats, separator=separator, name=name), partitions)


def _text(value: Any) -> Any:
    return value if isinstance(value, Ragged) else convert.to_tensor(value, dtypes.string)


def by_vector(function: Callable[[Any], Any], x: Any) -> Any:
    """What `function` makes of a vector of strings, a ragged tensor or several, for any rank.

    A scalar gives the only row.
    """
    if isinstance(x, Ragged):
        return _each(
            lambda v: core.nested(v, x.nested_partitions), by_vector(function, x.flat_values)
        )
    rank = core.rank_of(x)
    if rank is None:
        raise ValueError("input must have a statically-known rank.")
    if rank == 0:
        return _each(lambda v: v.values, function(raw.ExpandDims(x, 0)))
    if rank == 1:
        return function(x)
    cut = densities.from_tensor(x, None, None, rank - 1, dtypes.int64)
    return by_vector(function, cut)


def _each(function: Callable[[Any], Any], found: Any) -> Any:
    return tuple([function(v) for v in found]) if isinstance(found, tuple) else function(found)


def split(input: Any, sep: Any, maxsplit: int, name: str | None) -> Any:
    """The parts of strings between separators."""
    with name_scope(name or "StringSplit"):
        marks = convert.to_tensor("" if sep is None else sep, dtypes.string)

        def of_vector(x: Any) -> Any:
            parts = raw.StringSplitV2(x, marks, maxsplit=maxsplit)
            return _from_sparse(parts.indices, parts.values, parts.shape, x)

        return by_vector(of_vector, _text(input))


def _from_sparse(indices: Any, values: Any, shape: Any, x: Any) -> Any:
    size = x.dims[0] if x.dims else None
    count = shape[0] if size is None else convert.to_tensor(size, dtypes.int64)
    return core.from_rowids(values, indices[:, 0], count)


def bytes_split(input: Any, name: str | None) -> Any:
    """The bytes of strings."""
    with name_scope(name or "StringsByteSplit"):

        def of_vector(x: Any) -> Any:
            parts = raw.StringSplit(x, "", skip_empty=False)
            return _from_sparse(parts.indices, parts.values, parts.shape, x)

        return by_vector(of_vector, _text(input))


# -- runs of neighbours ------------------------------------------------------------------


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str,
    pad_values: Any,
    padding_width: int | None,
    preserve_short_sequences: bool,
    name: str | None,
) -> Any:
    """Runs of neighbours in each innermost row, joined."""
    with name_scope(name or "StringNGrams"):
        left, right, pads = _padding(pad_values, padding_width)
        widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
        if any(width < 1 for width in widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        options: dict[str, Any] = {
            "separator": separator,
            "ngram_widths": widths,
            "left_pad": left,
            "right_pad": right,
            "pad_width": pads,
            "preserve_short_sequences": preserve_short_sequences,
        }
        return _ngrams_of(_text(data), options)


def _padding(pad_values: Any, padding_width: int | None) -> tuple[str, str, int]:
    if pad_values is None:
        if padding_width:
            raise ValueError("pad_values must be provided if padding_width is set.")
        return "", "", 0
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if isinstance(pad_values, str):
        left = right = pad_values
    elif isinstance(pad_values, (list, tuple)):
        left, right = pad_values[0], pad_values[1]
    else:
        raise TypeError(f"pad_values must be a string, a pair of them, or None: {pad_values!r}")
    return left, right, -1 if padding_width is None else padding_width


def _ngrams_of(x: Any, options: dict[str, Any]) -> Any:
    if isinstance(x, Ragged):
        if isinstance(x.values, Ragged):
            return x.with_values(_ngrams_of(x.values, options))
        if (core.rank_of(x.values) or 1) > 1:
            return x.with_values(_ngrams_of(x.values, options))
        ngrams = raw.StringNGrams(x.values, x.row_splits, **options)
        return core.from_splits(ngrams.ngrams, ngrams.ngrams_splits)
    rank = core.rank_of(x)
    if rank is None:
        raise ValueError("Rank of data must be known.")
    if rank == 0:
        raise ValueError("Data must have rank>0")
    if rank == 1:
        return _ngrams_of(
            core.from_uniform(x, raw.Size(x, out_type=dtypes.int64), 1), options
        ).flat_values
    cut = densities.from_tensor(x, None, None, rank - 1, dtypes.int64)
    return densities.to_tensor(_ngrams_of(cut, options), "", None)


# -- Unicode -----------------------------------------------------------------------------


def decode(
    input: Any,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    with_offsets: bool,
    name: str | None,
) -> Any:
    """The code points of texts, and with offsets where each begins."""
    with name_scope(name or "UnicodeDecode"):

        def of_vector(x: Any) -> Any:
            op = raw.UnicodeDecodeWithOffsets if with_offsets else raw.UnicodeDecode
            decoded = op(
                x,
                input_encoding=input_encoding,
                errors=errors,
                replacement_char=replacement_char,
                replace_control_characters=replace_control_characters,
            )
            points = core.from_splits(decoded.char_values, decoded.row_splits)
            if not with_offsets:
                return points
            return points, core.from_splits(decoded.char_to_byte_starts, decoded.row_splits)

        return by_vector(of_vector, _text(input))


def characters(
    input: Any,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    with_offsets: bool,
    name: str | None,
) -> Any:
    """The characters of texts as strings, and with offsets where each begins."""
    with name_scope(name or "UnicodeSplit"):
        found = decode(input, input_encoding, errors, replacement_char, False, with_offsets, None)
        points = found[0] if with_offsets else found
        flat = points.flat_values if isinstance(points, Ragged) else points
        kind = input_encoding.upper().replace("_", "-")
        target = kind if kind in ("UTF-8", "UTF-16-BE", "UTF-32-BE") else "UTF-8"
        one_each = core.from_uniform(flat, 1, raw.Size(flat, out_type=dtypes.int64))
        texts = encode(one_each, target, errors, replacement_char, None)
        if isinstance(points, Ragged):
            texts = points.with_flat_values(texts)
        return (texts, found[1]) if with_offsets else texts


def encode(
    input: Any, output_encoding: str, errors: str, replacement_char: int, name: str | None
) -> Any:
    """Texts of the code points in the innermost rows."""
    with name_scope(name or "UnicodeEncode"):
        x = core.as_operand(input)
        rank = core.rank_of(x)
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        options: dict[str, Any] = {
            "errors": errors,
            "output_encoding": output_encoding,
            "replacement_char": replacement_char,
        }
        return _encoded(x, rank, options)


def _encoded(x: Any, rank: int, options: dict[str, Any]) -> Any:
    if isinstance(x, Ragged):
        if core.rank_of(x.values) != 1:
            return x.with_values(_encoded(x.values, rank - 1, options))
        return raw.UnicodeEncode(x.values, x.row_splits, **options)
    if rank == 1:
        one_row = core.from_uniform(x, raw.Size(x, out_type=dtypes.int64), 1)
        return raw.Squeeze(_encoded(one_row, 2, options), axis=[0])
    if rank == 2:
        return _encoded(densities.from_tensor(x, None, None, 1, dtypes.int64), 2, options)
    shape: Any = raw.Shape(x)
    wide = raw.Reshape(x, raw.ConcatV2([np.asarray([-1], np.int32), shape[-1:]], 0))
    return raw.Reshape(_encoded(wide, 2, options), shape[:-1])
