"""Serialized Examples parsed in place: many at once, without a message object for each.

All records are concatenated in one buffer, and every step of the parsing is vectorised over all
of them together: the first feature of each, the second of each, and so on. What an Example says is
always in this order:

    0A len | 0A len | 0A len key | 12 len | 0A, 12 or 1A len | 0A len values
    all      one      its name     value    kind of list       the list

Protobuf allows more: fields in another order, in parts, unknown ones. Records like that are written
again by protobuf, in canonical order, and lists like that are parsed by it.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from intaglio.graphdef.example_messages import BytesList, Example, FloatList, Int64List

NONE, BYTES, FLOATS, INTEGERS = range(4)
_LISTS: dict[int, Any] = {BYTES: BytesList, FLOATS: FloatList, INTEGERS: Int64List}
_KIND_OF_TAG = np.zeros(256, np.int8)
_KIND_OF_TAG[[0x0A, 0x12, 0x1A]] = BYTES, FLOATS, INTEGERS
_SPARE = bytes(16)  # so that a word can be read at every offset of the buffer


class NotCanonicalError(Exception):
    """Record `at` is no Example."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class Table:
    """The offsets of some features' lists in a buffer of records: a row for each feature.

    `kinds` has the kinds of the lists, NONE if the record does not have it; the list's field
    begins at byte `begins` and ends at byte `ends`. Raises OddError for what is no Example.
    """

    __slots__ = ("begins", "data", "ends", "kinds", "words")

    def __init__(self, records: list[bytes], keys: tuple[bytes, ...]) -> None:
        entries = self._entries(records)
        odd = self._find(entries, len(records), keys)
        if odd is not None:
            records = _rewritten(records, odd)
            odd = self._find(self._entries(records), len(records), keys)
            if odd is not None:
                raise NotCanonicalError(int(np.argmax(odd)))

    def _entries(self, records: list[bytes]) -> tuple[Any, Any, Any, Any]:
        """The record of each feature, its offset and where it must end; which records are not canonical."""
        sizes = np.fromiter(map(len, records), np.int64, len(records))
        self.data = b"".join([*records, _SPARE])
        words = self.words = _at_every_byte(self.data, np.dtype("<i8"))
        last = np.cumsum(sizes)
        first = last - sizes
        begins, ends, wrong = _field(words, first, last, 0x0A)
        wrong |= ends != last
        wrong &= sizes > 0
        odd = wrong
        row = np.flatnonzero((sizes > 0) & ~wrong & (begins < ends))
        at, stop = begins[row], ends[row]
        rows: list[Any] = []
        offsets: list[Any] = []
        stops: list[Any] = []
        while row.size:
            rows.append(row)
            offsets.append(at)
            stops.append(stop)
            word = words[at]
            after = at + ((word >> 8) & 0x7F) + 2
            # For all of them at once: a short feature, with another one after it.
            if (((word & 0x80FF) == 0x0A) & (after < stop)).all():
                at = after
                continue
            _, after, wrong = _field(words, at, stop, 0x0A)
            odd[row[wrong]] = True
            going = np.flatnonzero((after < stop) & ~wrong)
            row, at, stop = row[going], after[going], stop[going]
        return _joined(rows), _joined(offsets), _joined(stops), odd

    def _find(self, entries: Any, count: int, keys: tuple[bytes, ...]) -> Any:
        """Fill the table; the records that are odd, or None."""
        row, first, stop, odd = entries
        words = self.words
        first, last, wrong = _field(words, first, stop, 0x0A)
        name, name_end, bad = _field(words, first, last, 0x0A)
        wrong |= bad
        value, value_end, bad = _field(words, name_end, last, 0x12)
        wrong |= bad | (value_end != last)
        tag = words[value] & 0xFF
        kind = _KIND_OF_TAG[tag]
        begin, end, bad = _field(words, value, last, tag)
        empty = value == last
        wrong |= ~empty & (bad | (end != last) | (kind == NONE))
        if wrong.any():
            odd[row[wrong]] = True
        if odd.any():
            return odd
        which = _which(self.data, words, name, name_end - name, keys)
        found_features = np.flatnonzero((which >= 0) & ~empty)
        index = which[found_features] * count + row[found_features]
        shape = len(keys), count
        # Of several features with one name the last is written last.
        self.kinds, self.begins, self.ends = (
            _scattered(index, found[found_features], shape) for found in (kind, begin, last)
        )
        return None


def _scattered(index: Any, values: Any, shape: tuple[int, int]) -> Any:
    found = np.zeros(shape, values.dtype)
    found.reshape(-1)[index] = values
    return found


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _at_every_byte(data: bytes, dtype: Any) -> Any:
    """A buffer's bytes read as `dtype`, at every offset."""
    return np.ndarray((len(data) - dtype.itemsize + 1,), dtype, data, strides=(1,))


def _field(words: Any, at: Any, stop: Any, tag: Any) -> tuple[Any, Any, Any]:
    """Where the contents of the fields at `at` begin and end, and which are not as they must be.

    Those have another tag, or pass `stop`; they end at `stop` then, so that all offsets are inside.
    """
    word = words[at]
    size = (word >> 8) & 0x7F
    begin = at + 2
    wrong = (word & 0xFF) != tag
    more = word & 0x8000
    if more.any():
        for shift in (16, 24, 32):
            here = more != 0
            size = size + np.where(here, ((word >> shift) & 0x7F) << (7 * (shift // 8 - 1)), 0)
            begin = begin + here
            more = np.where(here, word & (0x80 << shift), 0)
            if not more.any():
                break
        wrong |= more != 0
    end = begin + size
    wrong |= end > stop
    if wrong.any():
        begin, end = np.minimum(begin, stop), np.minimum(end, stop)
    return begin, end, wrong


def _rewritten(records: list[bytes], odd: Any) -> list[bytes]:
    """The records with the odd ones as protobuf writes them. Raises OddError for no Examples."""
    found = list(records)
    for at in np.flatnonzero(odd).tolist():
        message = Example()
        try:
            message.ParseFromString(records[at])
        except DecodeError:
            raise NotCanonicalError(at) from None
        message.DiscardUnknownFields()
        found[at] = message.SerializeToString()
    return found


_MIX = np.int64(0x1E3779B97F4A7C15)
_KEPT = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [-1], np.int64)


def _digest(head: Any, tail: Any, size: Any, salt: int, buckets: int) -> Any:
    """A number below `buckets` for a name, of its first and last bytes and its length."""
    return (((head ^ (tail * 3) ^ size) * (_MIX + 2 * salt)) >> 44) & (buckets - 1)


def _ends_of(words: Any, at: Any, size: Any) -> tuple[Any, Any]:
    """The first eight bytes of each name, and the last eight if it has more."""
    head = words[at] & _KEPT[np.minimum(size, 8)]
    return head, np.where(size > 8, words[at + np.maximum(size - 8, 0)], 0)


@functools.lru_cache(maxsize=64)
def _index(keys: tuple[bytes, ...]) -> tuple[Any, Any, Any, Any, int]:
    """A hash table of the keys: first and last bytes, lengths, index by digest, the digests' salt.

    The salt is -1 if there is none that keeps them apart.
    """
    sizes = np.array([len(k) for k in keys], np.int64)
    words = _at_every_byte(b"".join([*keys, _SPARE]), np.dtype("<i8"))
    head, tail = _ends_of(words, np.cumsum(sizes) - sizes, sizes)
    buckets = 1 << (12 if len(keys) <= 64 else 16)
    found = np.full(buckets, -1, np.int64)
    for salt in range(200):
        digest = _digest(head, tail, sizes, salt, buckets)
        if np.unique(digest).size == len(keys):
            found[digest] = np.arange(len(keys))
            return head, tail, sizes, found, salt
    return head, tail, sizes, found, -1


def _which(data: bytes, words: Any, at: Any, size: Any, keys: tuple[bytes, ...]) -> Any:
    """The index in `keys` of the names at `at`; -1 for others."""
    if not keys or not at.size:
        return np.full(at.shape, -1)
    heads, tails, sizes, buckets, salt = _index(keys)
    if salt < 0:  # too many keys for digests, or such as differ in their middle only
        by_key = {key: i for i, key in enumerate(keys)}
        spans = zip(at.tolist(), (at + size).tolist(), strict=True)
        return np.array([by_key.get(data[a:b], -1) for a, b in spans], np.int64)
    head, tail = _ends_of(words, at, size)
    found = buckets[_digest(head, tail, size, salt, buckets.size)]
    same = (heads[found] == head) & (sizes[found] == size) & (tails[found] == tail)
    found = np.where(same, found, -1)
    for i in np.flatnonzero(sizes > 16).tolist():
        here = np.flatnonzero(found == i)
        if not here.size:
            continue
        texts = _at_every_byte(data, np.dtype(f"S{sizes[i]}"))[at[here]]
        found[here[texts != keys[i]]] = -1
    return found


_MAX_GATHERED_BYTES = 256  # bytes of a list of which no copy goes from number to number


def lists(table: Table, entries: list[int], kind: int) -> list[tuple[Any, Any]]:
    """The values of some features of one kind, and how many each record has.

    The values of a feature are concatenated; records without it have a length of -1. Raises
    OddError for a list that cannot be read.
    """
    of_kind = table.kinds[entries] == kind
    at = np.flatnonzero(of_kind)
    begins, ends = (x[entries].reshape(-1)[at] for x in (table.begins, table.ends))
    alone = (
        len(entries) > 1 and kind == FLOATS and (ends - begins).max(initial=0) > _MAX_GATHERED_BYTES
    )
    found = None if alone else _READERS[kind](table, begins, ends)
    if found is None:
        if len(entries) > 1:
            return [lists(table, [entry], kind)[0] for entry in entries]
        found = _by_messages(table, begins, ends, kind, at)
    values, counts = found
    if at.size == of_kind.size:
        lengths = counts.reshape(of_kind.shape)
        stops = np.cumsum(lengths.sum(1)).tolist()
    else:
        lengths = np.full(of_kind.shape, -1, np.int64)
        lengths.reshape(-1)[at] = counts
        stops = np.cumsum(np.where(of_kind, lengths, 0).sum(1)).tolist()
    starts = [0, *stops[:-1]]
    return [(values[a:b], own) for a, b, own in zip(starts, stops, lengths, strict=True)]


def _by_messages(table: Table, begins: Any, ends: Any, kind: int, numbers: Any) -> tuple[Any, Any]:
    """Lists of any form, as protobuf reads them."""
    read = _LISTS[kind].FromString
    found: list[Any] = []
    for at, a, b in zip(numbers.tolist(), begins.tolist(), ends.tolist(), strict=True):
        try:
            found.append(read(table.data[a:b]).value)
        except DecodeError:
            raise NotCanonicalError(at) from None
    counts = np.fromiter(map(len, found), np.int64, len(found))
    flat = list(itertools.chain.from_iterable(found))
    if kind == BYTES:
        return objects(flat), counts
    return np.array(flat, np.float32 if kind == FLOATS else np.int64), counts


def objects(values: Any) -> Any:
    """Strings as an array."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _strings(table: Table, begins: Any, ends: Any) -> tuple[Any, Any] | None:
    """Strings, a field for each."""
    begin, end, wrong = _field(table.words, begins, ends, 0x0A)
    data = table.data
    if not (wrong.any() or (end != ends).any()):  # one in each list
        spans = zip(begin.tolist(), end.tolist(), strict=True)
        return objects([data[a:b] for a, b in spans]), np.ones(begin.size, np.int64)
    # Lists one after the other are for protobuf one list.
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    try:
        found = BytesList.FromString(b"".join([data[a:b] for a, b in spans])).value
    except DecodeError:
        return None
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    for bits in (7, 14, 21, 28):
        sizes += sizes >> bits > 0
    stops = np.concatenate(([0], np.cumsum(sizes + 2)))
    wanted = np.cumsum(ends - begins)
    upto = np.searchsorted(stops, wanted)
    if stops[-1] != wanted[-1] or (stops[upto] != wanted).any():
        return None
    return objects(found), np.diff(upto, prepend=0)


def _packed(table: Table, begins: Any, ends: Any) -> tuple[Any, Any] | None:
    """Where the numbers of lists begin and end, each in one piece; None if not all are so."""
    begin, end, wrong = _field(table.words, begins, ends, 0x0A)
    wrong |= end != ends
    # Lists without numbers have no field at all: both are where the list ends.
    return None if wrong.any() and (wrong & (begins != ends)).any() else (begin, end)


_FLOAT = np.dtype("<f4")


def _floats(table: Table, begins: Any, ends: Any) -> tuple[Any, Any] | None:
    """Floats, four bytes each; None if some have not as many."""
    spans = _packed(table, begins, ends)
    if spans is None:
        return None
    begin, sizes = spans[0], spans[1] - spans[0]
    most = int(sizes.max(initial=0))
    if most and most == int(sizes.min()) and most % 4 == 0:
        rows = _at_every_byte(table.data, np.dtype(f"V{most}"))[begin]
        return rows.view(_FLOAT).astype(np.float32, copy=False), sizes >> 2
    if (sizes & 3).any():
        return None
    counts = sizes >> 2
    stops = np.cumsum(counts)
    total = int(stops[-1]) if stops.size else 0
    at = np.repeat(begin - 4 * (stops - counts), counts) + 4 * np.arange(total)
    values = _at_every_byte(table.data, _FLOAT)[at]
    return values.astype(np.float32, copy=False), counts


def _integers(table: Table, begins: Any, ends: Any) -> tuple[Any, Any] | None:
    """Integers, seven bits in a byte; None if one does not end or has too many bytes."""
    spans = _packed(table, begins, ends)
    if spans is None:
        return None
    begin, sizes = spans[0], spans[1] - spans[0]
    offsets = np.cumsum(sizes)
    total = int(offsets[-1]) if offsets.size else 0
    octets = np.frombuffer(table.data, np.uint8)
    if total == sizes.size and int(sizes.max(initial=0)) <= 1:
        part = octets[begin]  # one byte each
    else:
        part = octets[np.repeat(begin - (offsets - sizes), sizes) + np.arange(total)]
    final = part < 0x80
    if final.all():
        return part.astype(np.int64), sizes
    if not final[offsets[sizes > 0] - 1].all():
        return None
    stops = np.flatnonzero(final)
    starts = np.concatenate(([0], stops[:-1] + 1))
    widths = stops - starts + 1
    if int(widths.max()) > 10:
        return None
    shifts = (np.arange(total) - np.repeat(starts, widths)).astype(np.uint64) * np.uint64(7)
    values = np.add.reduceat((part & 0x7F).astype(np.uint64) << shifts, starts)
    upto = np.concatenate(([0], np.cumsum(final)))
    return values.view(np.int64), upto[offsets] - upto[offsets - sizes]


_READERS: tuple[Any, ...] = (None, _strings, _floats, _integers)
