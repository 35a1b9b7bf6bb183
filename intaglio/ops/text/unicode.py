"""Text as code points: decoding, encoding, the scripts of characters."""

from __future__ import annotations

import codecs
import functools
import itertools
import sys
from typing import Any

import numpy as np

from intaglio.base.dtypes import INDEX, int32, int64, string
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import check_rank
from intaglio.ops.ragged.tensors import splits_from
from intaglio.ops.text import joined, unicode_scripts
from intaglio.ops.text.strings import filled

_ERRORS = ("strict", "replace", "ignore")
_OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_REPLACEMENT = 0xFFFD
# So many code points are looked up in a table of all.
_MIN_FOR_TABLE = 1 << 12
# So many characters are created one by one.
_MIN_CHARACTERS = 1 << 6


def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise invalid_argument(
            f"Could not create converter for input encoding: {encoding}"
        ) from None


def _widths(points: Any, codec: str) -> Any:
    """How many bytes each code point takes in the encoding."""
    if codec == "utf-8":
        return 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000)
    if codec.startswith("utf-16"):
        return 2 + 2 * (points >= 0x10000)
    if codec.startswith("utf-32"):
        return np.full(points.shape, 4)
    return np.array([len(chr(p).encode(codec)) for p in points.tolist()], np.int64)


def _points(text: str) -> Any:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)


def _decoded(text: bytes, codec: str, errors: str, instead: int) -> tuple[Any, Any]:
    """The code points of a text, and where each begins in its bytes."""
    points: list[Any] = []
    starts: list[Any] = []
    at = 0
    while True:
        try:
            part, end, bad = text[at:].decode(codec), len(text), None
        except UnicodeDecodeError as e:
            if errors == "strict":
                raise invalid_argument("Invalid formatting on input string") from None
            end, bad = at + e.start, at + e.end
            part = text[at:end].decode(codec)
        found = _points(part)
        widths = _widths(found, codec)
        points.append(found)
        starts.append(at + np.cumsum(widths) - widths)
        if bad is None:
            return np.concatenate(points), np.concatenate(starts)
        if errors == "replace":
            points.append(np.array([instead], np.int64))
            starts.append(np.array([end], np.int64))
        at = bad


def _one_by_one(texts: list[bytes], codec: str, errors: str, instead: int) -> tuple[Any, Any, Any]:
    """The numbers of characters, the code points, and where these begin."""
    parts = [_decoded(t, codec, errors, instead) for t in texts]
    counts = np.array([p.size for p, _ in parts], np.int64)
    none = np.zeros(0, np.int64)
    points = np.concatenate([none, *[p for p, _ in parts]])
    starts = np.concatenate([none, *[s for _, s in parts]])
    return counts, points, starts


def _is_control(points: Any) -> Any:
    return (points < 0x20) | ((points >= 0x7F) & (points < 0xA0))


class _Decoding(Op):
    """Texts as the code points of all, one text after the other."""

    differentiable = False
    errors = _ERRORS
    Tsplits = INDEX

    def decoded(
        self, input: Any, input_encoding: str, errors: str, instead: int, controls: bool
    ) -> tuple[Any, Any, Any]:
        """The numbers of characters, the code points, and where these begin."""
        if not 0 <= instead <= 0x10FFFF:
            raise invalid_argument(f"replacement_char out of unicode codepoint range: {instead}")
        codec = _codec(input_encoding)
        texts = np.asarray(input).reshape(-1).tolist()
        together = joined.code_points(texts) if codec == "utf-8" else None
        counts, points, starts = together or _one_by_one(texts, codec, errors, instead)
        if controls and errors == "ignore":
            kept = ~_is_control(points)
            texts = np.repeat(np.arange(counts.size), counts)[kept]
            counts = np.bincount(texts, minlength=counts.size)
            return counts, points[kept].astype(np.int32), starts[kept]
        if controls:
            points = np.where(_is_control(points), instead, points)
        return counts, points.astype(np.int32, copy=False), starts


@op
class UnicodeDecode(_Decoding):
    """Texts as code points, with row splits."""

    signature = (
        "input: string; input_encoding: str, errors: str = 'replace',"
        " replacement_char: int = 65533, replace_control_characters: bool = False,"
        " Tsplits: type = int64 -> row_splits: Tsplits, char_values: int32"
    )

    def infer(self, input: Spec, Tsplits) -> Any:
        count = input.count
        return Spec(Tsplits, (None if count is None else count + 1,)), Spec(int32, (None,))

    def kernel(
        self, input, input_encoding, errors, replacement_char, replace_control_characters, Tsplits
    ):
        counts, points, _ = self.decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters
        )
        return splits_from(counts, Tsplits.numpy), points


@op
class UnicodeDecodeWithOffsets(_Decoding):
    """Texts as code points, with row splits, and the byte at which each begins."""

    signature = (
        "input: string; input_encoding: str, errors: str = 'replace',"
        " replacement_char: int = 65533, replace_control_characters: bool = False,"
        " Tsplits: type = int64"
        " -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64"
    )

    def infer(self, input: Spec, Tsplits) -> Any:
        count = input.count
        rows = None if count is None else count + 1
        return Spec(Tsplits, (rows,)), Spec(int32, (None,)), Spec(int64, (None,))

    def kernel(
        self, input, input_encoding, errors, replacement_char, replace_control_characters, Tsplits
    ):
        counts, points, starts = self.decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters
        )
        return splits_from(counts, Tsplits.numpy), points, starts


@op
class UnicodeEncode(Op):
    """Code points as texts, one for each row."""

    signature = (
        "input_values: int32, input_splits: Tsplits; errors: str = 'replace',"
        " output_encoding: str, replacement_char: int = 65533 -> output: string"
    )
    output_encoding = tuple(_OUTPUTS)
    errors = ("ignore", "replace", "strict")
    differentiable = False
    Tsplits = INDEX

    def infer(self, input_values: Spec, input_splits: Spec) -> Spec:
        for x in (input_values, input_splits):
            if x.rank not in (None, 1):
                raise ShapeError(f"Shape must be rank 1 but is rank {x.rank}")
        rows = input_splits.shape[0] if input_splits.shape else None
        return Spec(string, (None if rows is None else rows - 1,))

    def kernel(self, input_values, input_splits, errors, output_encoding, replacement_char):
        if input_splits.size < 1 or input_splits[0] != 0:
            raise invalid_argument("First value in input_splits must be zero.")
        if input_splits[-1] != input_values.size:
            raise invalid_argument(
                "Last value in input_splits must be equal to the number of values"
            )
        check_rank("input_values", input_values, 1)
        if not 0 <= replacement_char <= 0x10FFFF or 0xD800 <= replacement_char < 0xE000:
            raise invalid_argument("replacement_char out of unicode codepoint range")
        points = input_values.astype(np.int64)
        wrong = (points < 0) | (points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000))
        splits = input_splits
        if wrong.any():
            if errors == "strict":
                raise invalid_argument("Code point is out of range for Unicode, or is a surrogate.")
            if errors == "ignore":
                before = np.concatenate([[0], np.cumsum(wrong)])
                splits = splits - before[splits]
                points = points[~wrong]
            else:
                points = np.where(wrong, replacement_char, points)
        codec = _OUTPUTS[output_encoding]
        if points.size >= _MIN_CHARACTERS and np.all(np.diff(splits) == 1):
            return _characters(points, codec)
        whole = points.astype("<u4").tobytes().decode("utf-32-le")
        bounds = splits.tolist()
        rows = itertools.pairwise(bounds)
        return filled([whole[a:b].encode(codec) for a, b in rows], -1)


def _characters(points: Any, codec: str) -> np.ndarray:
    """Each code point as a text."""
    if points.max() > max(8 * points.size, 1 << 10):  # rather than a long table
        known, number = np.unique(points, return_inverse=True)
        return filled([chr(p).encode(codec) for p in known.tolist()], -1)[number.reshape(-1)]
    there = np.zeros(int(points.max()) + 1, bool)
    there[points] = True
    number = np.cumsum(there, dtype=np.int32) - 1
    texts = [chr(p).encode(codec) for p in np.flatnonzero(there).tolist()]
    return filled(texts, -1)[number[points]]


@functools.cache
def _script_table() -> np.ndarray:
    """The script (int32) of every code point."""
    starts, scripts = unicode_scripts.table()
    lengths = np.diff([*starts.tolist(), sys.maxunicode + 1])
    return np.repeat(scripts, lengths).astype(np.int32)


@op
class UnicodeScript(Op):
    """The number of the script that each code point belongs to, -1 for none."""

    signature = "input: int32 -> output: int32"
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(int32, input.shape)

    def kernel(self, input):
        if np.size(input) >= _MIN_FOR_TABLE:
            inside = np.clip(input, 0, sys.maxunicode)
            return np.where(inside == input, _script_table()[inside], np.int32(-1))
        starts, scripts = unicode_scripts.table()
        ranges = np.searchsorted(starts, input, side="right") - 1
        found = scripts[np.maximum(ranges, 0)]
        return np.where((input < 0) | (input > 0x10FFFF), np.int32(-1), found)
