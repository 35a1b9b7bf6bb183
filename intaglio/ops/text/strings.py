"""Strings: joining, cutting, changing case, measuring, splitting, reading numbers.

A string is bytes; kernels get and return object arrays of bytes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import (
    INDEX,
    DType,
    float32,
    float64,
    int32,
    int64,
    string,
    uint32,
    uint64,
)
from intaglio.base.errors import OutOfRangeError, ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text import joined, numbers
from intaglio.ops.text import native_strings as texts

UNITS = ("BYTE", "UTF8_CHAR")


def mapped(function: Callable[[bytes], bytes], array: Any) -> np.ndarray:
    """The function of every string, in an array of the same shape."""
    texts = np.asarray(array).reshape(-1).tolist()
    return filled(list(map(function, texts)), np.shape(array))


def _mapped_together(function: Callable[[bytes], bytes], array: Any) -> np.ndarray:
    """As `mapped`, for a function of several texts with separators between them."""
    texts = np.asarray(array).reshape(-1).tolist()
    return filled(joined.mapped(function, texts), np.shape(array))


def filled(values: list[bytes], dims: Any) -> np.ndarray:
    """The strings in an array of this shape."""
    result = np.empty(len(values), object)
    result[:] = values
    return result.reshape(dims)


def shape_text(dims: Any) -> str:
    """A shape as TensorFlow's kernels print it: `[2,3]`."""
    return "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"


class StringMap(Op):
    """output = f(input), string by string."""

    signature = "input: string -> output: string"
    differentiable = False

    def infer(self, input: Spec) -> Spec:
        return Spec(string, input.shape)


@op
class StringStrip(StringMap):
    """Without white space at both ends."""

    batching = "leading"

    def kernel(self, input):
        return _changed("stripped", input, bytes.strip)


def _changed(name: str, input: Any, function: Callable[[bytes], bytes]) -> np.ndarray:
    """A function of every string that machine code computes too."""
    found = texts.changed(name, input)
    return mapped(function, input) if found is None else found.reshape(np.shape(input))


def _cased(input: Any, encoding: str, narrow: Any, wide: Any) -> np.ndarray:
    if encoding == "":
        return _changed(narrow.__name__, input, narrow)
    if encoding.lower() != "utf-8":
        raise invalid_argument(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    return _mapped_together(lambda v: wide(v.decode("utf-8", "replace")).encode(), input)


@op
class StringLower(StringMap):
    """Lower case: of ASCII letters, or with encoding "utf-8" of all."""

    signature = "input: string; encoding: str = '' -> output: string"
    batching = "leading"

    def kernel(self, input, encoding):
        return _cased(input, encoding, bytes.lower, str.lower)


@op
class StringUpper(StringMap):
    """Upper case: of ASCII letters, or with encoding "utf-8" of all."""

    signature = "input: string; encoding: str = '' -> output: string"
    batching = "leading"

    def kernel(self, input, encoding):
        return _cased(input, encoding, bytes.upper, str.upper)


@op
class StringLength(Op):
    """The number of bytes or of UTF-8 characters."""

    signature = "input: string; unit: str = 'BYTE' -> output: int32"
    unit = UNITS
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(int32, input.shape)

    def kernel(self, input, unit):
        found = texts.lengths(input) if unit == "BYTE" else texts.characters(input)
        if found is None:
            measure = _lengths if unit == "BYTE" else _characters
            found = measure(np.asarray(input).reshape(-1).tolist())
        return found.astype(np.int32).reshape(np.shape(input))


def _lengths(texts: list[bytes]) -> np.ndarray:
    """How many bytes each text has."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def _characters(texts: list[bytes]) -> np.ndarray:
    """How many characters each text has: all bytes but the continuation bytes begin one."""
    every = np.frombuffer(b"".join(texts), np.uint8)
    begun = np.concatenate([[0], np.cumsum(every & 0xC0 != 0x80)])
    ends = np.cumsum(_lengths(texts))
    return np.diff(begun[ends], prepend=0)


# -- parts ---------------------------------------------------------------------------


@op
class Substr(Op):
    """`len` bytes or characters from `pos` on, which counts from the end if negative."""

    signature = "input: string, pos: T, len: T; unit: str = 'BYTE' -> output: string"
    unit = UNITS
    T = INDEX
    differentiable = False

    def infer(self, input: Spec, pos: Spec, len: Spec) -> Spec:
        if pos.rank is not None and len.rank is not None and pos.rank != len.rank:
            raise ShapeError(f"Shape must be rank {len.rank} but is rank {pos.rank}")
        return Spec(string, shapes.broadcast(input.shape, pos.shape))

    def kernel(self, input, pos, len, unit):
        if np.shape(pos) != np.shape(len):
            raise invalid_argument(
                "pos and len should have the same shape, got: "
                f"{shape_text(np.shape(pos))} vs. {shape_text(np.shape(len))}"
            )
        if unit == "BYTE":
            return _cut(np.asarray(input, object), pos, len)
        flat, starts, counts = np.broadcast_arrays(input, pos, len)
        alike = np.ndim(pos) == 0
        found = texts.parts(flat, *((pos, len) if alike else (starts, counts)), unit)
        if found is not None:
            return found.reshape(flat.shape)
        triples = zip(flat.flat, starts.flat, counts.flat, strict=True)
        substrings = [
            _characters_between(t, int(p), int(n), i) for i, (t, p, n) in enumerate(triples)
        ]
        return filled(substrings, flat.shape)


def _cut(array: Any, starts: Any, counts: Any) -> np.ndarray:
    """So many bytes of each text from its start on; all of them for a negative count."""
    if np.shape(starts) not in ((), array.shape):
        array, starts, counts = np.broadcast_arrays(array, starts, counts)
    compiled = texts.parts(array, starts, counts)
    if compiled is not None:
        return compiled.reshape(array.shape)
    flat = array.reshape(-1).tolist()
    if np.ndim(starts) == 0:
        return filled(_alike(flat, int(starts), int(counts)), array.shape)
    starts, counts, sizes = starts.reshape(-1), counts.reshape(-1), _lengths(flat)
    wrong = (starts < -sizes) | (starts > sizes)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise _outside(int(starts[at]), flat, at)
    begins = np.where(starts < 0, starts + sizes, starts)
    ends = np.where(counts < 0, sizes, begins + np.minimum(counts, sizes))
    spans = zip(flat, begins.tolist(), ends.tolist(), strict=True)
    return filled([text[begin:end] for text, begin, end in spans], array.shape)


def _alike(flat: list[bytes], start: int, count: int) -> list[bytes]:
    """The substring at one position of each text."""
    needed = start if start >= 0 else -start
    if needed > min(map(len, flat), default=needed):
        at = next(i for i, text in enumerate(flat) if len(text) < needed)
        raise _outside(start, flat, at)
    end: int | None = start + count
    if count < 0 or (start < 0 and start + count >= 0):
        end = None
    return list(map(operator.itemgetter(slice(start, end)), flat))


def _outside(start: int, flat: list[bytes], at: int) -> Exception:
    shown = flat[at].decode("utf-8", "replace")
    return invalid_argument(f"pos {start} out of range for string b'{shown}' at index {at}")


def _characters_between(text: bytes, start: int, count: int, index: int) -> bytes:
    starts = [i for i, b in enumerate(text) if b & 0xC0 != 0x80] + [len(text)]
    total = len(starts) - 1
    if not -total <= start <= total:
        raise invalid_argument(f"pos {start} out of range for string at index {index}")
    start = start + total if start < 0 else start
    end = min(total, start + max(count, 0))
    return text[starts[start] : starts[end]]


@op
class StringSplitV2(Op):
    """The parts of a vector of strings, as the three parts of a sparse matrix."""

    signature = (
        "input: string, sep: string; maxsplit: int = -1"
        " -> indices: int64, values: string, shape: int64"
    )
    differentiable = False

    def infer(self, input: Spec, sep: Spec) -> Any:
        for spec, rank in ((input, 1), (sep, 0)):
            if spec.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {spec.rank}")
        return Spec(int64, (None, 2)), Spec(string, (None,)), Spec(int64, (2,))

    def kernel(self, input, sep, maxsplit):
        if np.ndim(input) != 1:
            raise invalid_argument(
                f"input must be a vector, got shape: {shape_text(np.shape(input))}"
            )
        if np.ndim(sep) != 0:
            raise invalid_argument(f"sep must be a scalar, got shape: {shape_text(np.shape(sep))}")
        separator = np.asarray(sep).item()
        flat = np.asarray(input).tolist()
        if maxsplit < 0 and not separator and len(flat) >= joined.MIN_TEXTS:
            spans, counts = joined.words(flat)
            parts = spans.array()
        else:
            listed, counts = _split(flat, separator, maxsplit)
            parts = filled(listed, -1)
        indices = np.empty((parts.size, 2), np.int64)
        indices[:, 0] = np.repeat(np.arange(counts.size), counts)
        firsts = np.repeat(counts.cumsum() - counts, counts)
        np.subtract(np.arange(parts.size), firsts, out=indices[:, 1])
        return indices, parts, np.array([counts.size, counts.max(initial=0)], np.int64)


def _split(texts: list[bytes], separator: bytes, most: int) -> tuple[list[bytes], np.ndarray]:
    """The parts of all texts, and how many each has."""
    if most < 0 and len(separator) == 1:
        return joined.split(texts, separator)
    # One list of all parts: collecting garbage would look at a list for each text many times.
    parts: list[bytes] = []
    counts: list[int] = []
    for text in texts:
        found = _parts(text, separator, most)
        parts += found
        counts.append(len(found))
    return parts, np.array(counts, np.int64)


def _parts(text: bytes, separator: bytes, most: int) -> list[bytes]:
    """As Python splits, except that with a limit the rest is a part even if it is empty."""
    if separator:
        return text.split(separator, most)
    if most == 0:
        return [text]
    parts = text.split(None, most)
    return [*parts, b""] if len(parts) == most else parts


# -- joining -------------------------------------------------------------------------


def runs_joined(array: Any, starts: Any, counts: Any, separator: bytes) -> np.ndarray:
    """Runs of neighbours in a vector joined: where each begins, and how many texts it has."""
    found = texts.joined(array, starts, counts, separator)
    if found is not None:
        return found
    flat = array.tolist()
    runs = zip(starts.tolist(), (starts + counts).tolist(), strict=True)
    return filled([separator.join(flat[a:b]) for a, b in runs], -1)


def all_joined(array: Any) -> bytes:
    """All texts of a vector as one."""
    return runs_joined(array, np.zeros(1, np.int64), np.full(1, array.size), b"").item()


def lengths(array: Any) -> np.ndarray:
    """How many bytes each text of a vector has (int64)."""
    found = texts.lengths(array)
    return _lengths(array.tolist()) if found is None else found


@op
class StringJoin(Op):
    """Strings joined elementwise; scalars are broadcast."""

    signature = "inputs: N*string; separator: str = '' -> output: string"
    differentiable = False

    def infer(self, inputs: Any) -> Spec:
        whole: Any = ()
        unknown = False
        for spec in inputs:
            if spec.shape is None:
                unknown = True
            elif spec.shape != ():
                whole = spec.shape if whole == () else _merged(whole, spec.shape)
        return Spec(string, None if unknown and whole == () else whole)

    def kernel(self, inputs, separator):
        dims: Any = ()
        for array in inputs:
            if np.ndim(array):
                if dims != () and np.shape(array) != dims:
                    raise invalid_argument(
                        f"Input shapes do not match: {shape_text(dims)} vs. {shape_text(np.shape(array))}"
                    )
                dims = np.shape(array)
        glue, width = separator.encode(), len(inputs)
        if not inputs:
            return filled([b""], ())
        rows = np.empty((math.prod(dims), width), object)
        for i, array in enumerate(inputs):
            rows[:, i] = np.asarray(array, object).reshape(-1)
        if len(rows) < texts.MIN_NATIVE_STRINGS:
            return filled(list(map(glue.join, rows.tolist())), dims)
        starts = np.arange(0, rows.size, width)
        joined = runs_joined(rows.reshape(-1), starts, np.full(len(rows), width), glue)
        return joined.reshape(dims)


def _merged(a: Any, b: Any) -> Any:
    if len(a) != len(b):
        raise ShapeError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is not None and y is not None and x != y:
            raise ShapeError(
                f"Dimension {i} in both shapes must be equal, but are {x} and {y}. "
                f"Shapes are {shape_text(a)} and {shape_text(b)}."
            )
    return shapes.merge(a, b)


@op
class ReduceJoin(Op):
    """Strings joined along axes, the first of the axes given going fastest."""

    signature = (
        "inputs: string, reduction_indices: int32;"
        " keep_dims: bool = False, separator: str = '' -> output: string"
    )
    differentiable = False

    def infer(self, inputs: Spec, reduction_indices: Spec, keep_dims: bool) -> Spec:
        if inputs.shape is None or reduction_indices.value is None:
            return Spec(string, inputs.shape if _no_axes(reduction_indices) else None)
        rank = len(inputs.shape)
        axes = set()
        for axis in np.asarray(reduction_indices.value).reshape(-1).tolist():
            if not -rank <= axis < rank:
                raise ShapeError(
                    f"Invalid reduction dimension {axis} for input with {rank} dimensions."
                )
            axes.add(axis % rank)
        dims = enumerate(inputs.shape)
        if keep_dims:
            return Spec(string, tuple([1 if i in axes else d for i, d in dims]))
        return Spec(string, tuple([d for i, d in dims if i not in axes]))

    def kernel(self, inputs, reduction_indices, keep_dims, separator):
        axes = _axes(np.ndim(inputs), reduction_indices)
        kept = [i for i in range(np.ndim(inputs)) if i not in axes]
        moved = np.transpose(inputs, kept + axes[::-1])  # the first axis varies fastest
        outer = moved.shape[: len(kept)]
        moved = moved.reshape(math.prod(outer), -1 if moved.size else 0)
        count, length = moved.shape
        starts = np.arange(count) * length
        rows = runs_joined(moved.reshape(-1), starts, np.full(count, length), separator.encode())
        shape = np.shape(inputs)
        dims = [1 if i in axes else d for i, d in enumerate(shape)] if keep_dims else outer
        return rows.reshape(dims)


def _no_axes(spec: Spec) -> bool:
    return spec.shape is not None and spec.shape == (0,)


def _axes(rank: int, numbers: Any) -> list[int]:
    axes: list[int] = []
    for axis in np.asarray(numbers).reshape(-1).tolist():
        if not -rank <= axis < rank:
            raise OutOfRangeError(
                None, None, f"Invalid reduction dimension {axis} for input with {rank} dimension(s)"
            )
        if axis % rank in axes:
            raise invalid_argument(f"Duplicate reduction dimension {axis}")
        axes.append(axis % rank)
    return axes


@op
class UnsortedSegmentJoin(Op):
    """The strings of each segment joined."""

    signature = (
        "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments;"
        " separator: str = '' -> output: string"
    )
    Tindices = INDEX
    Tnumsegments = INDEX
    differentiable = False

    def infer(self, inputs: Spec, segment_ids: Spec, num_segments: Spec) -> Spec:
        if inputs.shape is None or segment_ids.shape is None:
            return Spec(string, None)
        count = None if num_segments.value is None else int(num_segments.value)
        return Spec(string, (count, *inputs.shape[len(segment_ids.shape) :]))

    def kernel(self, inputs, segment_ids, num_segments, separator):
        if np.ndim(segment_ids) == 0:
            raise invalid_argument("Segment_id cannot have rank 0")
        if np.ndim(segment_ids) > np.ndim(inputs):
            raise OutOfRangeError(
                None,
                None,
                f"Invalid segment_id rank {np.ndim(segment_ids)} for input with"
                f" {np.ndim(inputs)} dimension(s)",
            )
        for i, (d, n) in enumerate(zip(segment_ids.shape, inputs.shape, strict=False)):
            if d != n:
                raise invalid_argument(
                    f"Segment dimension is {d} and input dimension is {n} at axis {i}"
                )
        rest = np.shape(inputs)[np.ndim(segment_ids) :]
        ids = np.asarray(segment_ids).reshape(-1)
        if np.any((ids < 0) | (ids >= num_segments)):
            raise invalid_argument(
                "segment_ids are not allowed to exceed num_segments or to have negative values."
            )
        rows = np.asarray(inputs, object).reshape(len(ids), math.prod(rest))
        # Few numbers are sorted digit by digit.
        narrow = np.uint16 if num_segments <= 1 << 16 else ids.dtype
        order = np.argsort(ids.astype(narrow), kind="stable")
        counts = np.bincount(ids, minlength=int(num_segments))
        columns = rows.shape[1]
        # Column after column: a segment's texts are neighbours.
        starts = (np.cumsum(counts) - counts)[:, None] + np.arange(columns) * len(ids)
        found = runs_joined(
            rows[order].T.reshape(-1),
            starts.reshape(-1),
            np.repeat(counts, columns),
            separator.encode(),
        )
        return found.reshape(int(num_segments), *rest)


# -- numbers -------------------------------------------------------------------------


@op
class StringToNumber(Op):
    """Decimal text as numbers; floats also in hexadecimal, and inf and nan."""

    out_type = (float32, float64, int32, int64, uint32, uint64)

    signature = "string_tensor: string; out_type: type = float32 -> output: out_type"
    differentiable = False
    batching = "leading"

    def infer(self, string_tensor: Spec, out_type: DType) -> Spec:
        return Spec(out_type, string_tensor.shape)

    def kernel(self, string_tensor, out_type: DType):
        if out_type not in (float32, float64, int32, int64, uint32, uint64):
            raise invalid_argument(
                f"Value for attr 'out_type' of {out_type.name} is not in the list of allowed "
                "values: float, double, int32, int64, uint32, uint64"
            )
        try:
            return numbers.read(string_tensor, out_type).reshape(np.shape(string_tensor))
        except numbers.NoNumber as e:
            shown = e.text.decode("utf-8", "replace")
            raise invalid_argument(
                f"StringToNumberOp could not correctly convert string: {shown}"
            ) from None
