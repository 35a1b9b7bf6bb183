"""Arrays of texts in machine code, where there is a compiler and it pays; None where not.

NumPy and Python compute the same, text by text; callers fall back on them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.opdef.machine_code import exact_kernel
from intaglio.ops.text.automata import Automaton, Searcher

# The cost of a text without machine code, in units of `machine_code.MIN_TOTAL_WORK`.
WORK = {
    "lengths": 8,
    "characters": 24,
    "parts": 24,
    "character_parts": 400,
    "joined": 24,
    "numbers": 40,
    "span_numbers": 40,
    "spans": 8,
    "lower": 24,
    "upper": 24,
    "stripped": 24,
    "base64": 120,
    "from_base64": 240,
    "decimals": 120,
    "automaton": 500,
    "distinct": 60,
    "found": 60,
    "replaced": 500,
}
# NumPy's hashes take as long for one text as for a hundred.
WORK_PER_HASH, WORK_OF_HASHES = 24, 1 << 16
# The exponent of a number that is written without one.
NO_EXPONENT = 1 << 20
# Fewer texts than this are as quickly read by Python; hashes are not.
MIN_NATIVE_STRINGS = 64


def _run(
    name: str,
    texts: Any,
    *arrays: Any,
    words: Sequence[int] = (),
    least: int = MIN_NATIVE_STRINGS,
    **options: int,
) -> Any:
    count = np.size(texts)
    if count < least and name in WORK:
        return None
    work = WORK[name] * count if name in WORK else WORK_OF_HASHES + WORK_PER_HASH * count
    run = exact_kernel("texts", work, name)
    return None if run is None else run(texts, *arrays, words=words, **options)


def lengths(texts: Any) -> Any:
    """How many bytes each has, as one int64 after the other."""
    return _run("lengths", texts)


def hashes(name: str, texts: Any, buckets: int, key: Sequence[int]) -> Any:
    """Hashes as uint64 in a row, modulo a number of buckets unless that is 0."""
    return _run(name, texts, words=[buckets, *key])


def matched(texts: Any, automaton: Callable[[], Automaton | None]) -> Any:
    """What an automaton says of each text: refused, accepted or unknown.

    None too if there is no automaton, which is asked for when there is a kernel.
    """
    if np.size(texts) < MIN_NATIVE_STRINGS or not ready("automaton", np.size(texts)):
        return None
    found = automaton()
    return found and _run("automaton", texts, found.table, found.ends, words=[found.start])


def distinct(texts: Any) -> Any:
    """Where each distinct text first occurs, and which of them each is (int64)."""
    found = _hashed(texts)
    return found and found[:2]


def _hashed(texts: Any, least: int = MIN_NATIVE_STRINGS) -> Any:
    """`distinct`, and the hash table that was filled: positions plus one, in front of their number."""
    slots = 1 << (2 * max(np.size(texts), 1)).bit_length()
    table = np.zeros(slots + 1, np.int64)
    found = _run("distinct", texts, table, words=[slots - 1], least=least)
    return found and (found[1][: table[-1]], found[0], table)


class Keys(NamedTuple):
    """Texts that others are looked for among: all different, with a hash table of them."""

    texts: np.ndarray
    table: np.ndarray

    @classmethod
    def of(cls, keys: Collection[bytes]) -> Keys | None:
        """A table of these; None without machine code: then nothing is copied."""
        if not ready("distinct", len(keys)):
            return None
        texts = np.empty(len(keys), object)
        texts[:] = list(keys)
        found = _hashed(texts, 0)
        return found and cls(texts, found[2])

    def find(self, texts: Any) -> Any:
        """The number (int64) of the key that each text is, -1 for none; None if that must be found otherwise."""
        words = [self.table.size - 2]
        return _run("found", texts, self.table, self.texts, words=words)


def replaced(
    texts: Any, searcher: Callable[[], Searcher | None], instead: bytes, every: bool
) -> Any:
    """The texts with their first match, or all, replaced, and which texts (uint8) are left to do.

    None too if there is no automaton, which is asked for when there is a kernel.
    """
    count = np.size(texts)
    if count < MIN_NATIVE_STRINGS or not ready("replaced", count):
        return None
    sizes, found = lengths(texts), searcher()
    if sizes is None or found is None:
        return None
    spans = np.empty(2 * int(sizes.max(initial=0)) + 2, np.int64)
    words = [found.first, found.behind, len(instead), int(every)]
    text = np.frombuffer(instead or b"\0", np.uint8)
    return _run("replaced", texts, found.table, found.matches, text, spans, words=words)


def ready(name: str, count: int) -> bool:
    """True if there is a kernel for so many texts."""
    return exact_kernel("texts", WORK[name] * count, name) is not None


def characters(texts: Any) -> Any:
    """How many characters of UTF-8 each has, as one int64 after the other."""
    return _run("characters", texts)


def joined(texts: Any, starts: Any, counts: Any, separator: bytes) -> Any:
    """Runs of neighbours joined: where each begins, and how many texts it has."""
    if lengths(texts) is None:
        return None
    bounds = [np.ascontiguousarray(x, np.int64) for x in (starts, counts)]
    glue = np.frombuffer(separator or b"\0", np.uint8)
    return _run("joined", texts, *bounds, glue, words=[len(separator)], count=bounds[0].size)


def changed(name: str, texts: Any) -> Any:
    """Each text after `lower` or `upper`, of ASCII letters, or `stripped` of white space."""
    return _run(name, texts)


def base64(texts: Any, alphabet: bytes, padded: bool) -> Any:
    """Each text in base 64, with the 64 characters of an alphabet."""
    return _run("base64", texts, np.frombuffer(alphabet, np.uint8), words=[int(padded)])


def from_base64(texts: Any, values: Any) -> Any:
    """The decoded texts in base 64: the values (uint8) of all bytes, 255 for invalid ones.

    None too if a text is invalid.
    """
    return _run("from_base64", texts, values)


def decimals(
    numbers: Any, negative: Any, points: Any, exponents: Any, width: int, fill: str
) -> Any:
    """Integers (uint64) with a sign where `negative`, and so many digits after a point.

    `points`, and `exponents` where `e` and a power of ten follow, are for each number or for all.
    The texts are padded to a width as by a flag of C's printf.
    """
    plus = ord(fill) if fill in ("+", " ") and fill else 0
    steps = [int(np.ndim(x) > 0) for x in (points, exponents)]
    words = [width, plus, int(fill == "0"), int(fill == "-"), *steps]
    each = [np.ascontiguousarray(x, np.int64).reshape(-1) for x in (points, exponents)]
    signs = np.ascontiguousarray(negative, np.uint8)
    return _run("decimals", numbers, signs, _POWERS, *each, words=words)


def parts(texts: Any, starts: Any, counts: Any, unit: str = "BYTE") -> Any:
    """So many bytes from an offset on; both are numbers, or arrays with one for each text.

    With the unit "UTF8_CHAR" these are characters. None too if an offset is outside of a text.
    """
    steps = [int(np.ndim(x) > 0) for x in (starts, counts)]
    numbers = [np.ascontiguousarray(x, np.int64).reshape(-1) for x in (starts, counts)]
    name = "parts" if unit == "BYTE" else "character_parts"
    return _run(name, texts, *numbers, words=steps)


class Spans(NamedTuple):
    """Parts of one text: where each begins, and how many bytes it has (int64)."""

    whole: bytes
    starts: np.ndarray
    sizes: np.ndarray

    def run(self, name: str) -> Any:
        """The results of a kernel for spans; None without one, or for few spans."""
        count = self.starts.size
        if count < MIN_NATIVE_STRINGS:
            return None
        run = exact_kernel("texts", WORK[name] * count, name)
        if run is None:
            return None
        bounds = [np.ascontiguousarray(x, np.int64) for x in (self.starts, self.sizes)]
        return run(np.frombuffer(self.whole, np.uint8), *bounds, count=count)

    def texts(self) -> list[bytes]:
        """The parts in a list."""
        spans = zip(self.starts.tolist(), (self.starts + self.sizes).tolist(), strict=True)
        return [self.whole[a:b] for a, b in spans]

    def array(self) -> np.ndarray:
        """The parts in a vector."""
        found = self.run("spans")
        if found is None:
            found = np.empty(self.starts.size, object)
            found[:] = self.texts()
        return found


def _numbers(texts: Any) -> Any:
    return texts.run("span_numbers") if isinstance(texts, Spans) else _run("numbers", texts)


def numbers(texts: Any) -> Any:
    """(values, unusual): decimal numbers as float64, of up to 18 digits; also those of spans.

    Texts that are no such numbers, or might be rounded twice, are unusual.
    """
    found = _numbers(texts)
    if found is None:
        return None
    digits, notes = found
    unusual = (notes == 255) | (digits > 1 << 53)
    notes[unusual] = 0
    values = digits.astype(np.float64)
    if notes.any():
        values /= _TENS[notes & 31]
        np.negative(values, where=(notes & 32) != 0, out=values)
    return values, unusual


def integers(texts: Any, signed: bool) -> Any:
    """(values, unusual): whole numbers as int64; a point is unusual, and a minus unless `signed`."""
    found = _numbers(texts)
    if found is None:
        return None
    values, notes = found
    negative = (notes & 32) != 0
    np.negative(values, where=negative, out=values)
    return values, (notes & np.uint8(~32 & 255 if signed else 255)) != 0


_TENS = 10.0 ** np.arange(32)
_POWERS = np.array([10**i for i in range(20)], np.uint64)
