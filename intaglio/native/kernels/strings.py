"""Kernels on arrays of strings: lengths, hashes, substrings, and parsing of numbers.

A kernel loops over the pointers of an array of objects, checks that each is a `bytes`, and reads it
in place. It holds the GIL, because it may create objects. It sets `FLAG` for inputs that it does
not support; then NumPy and Python repeat the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.cpython import layout
from intaglio.native.kernels import text_matching
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.text_walk import Walk
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.integers import Text, Word
from intaglio.native.runtime import entry
from intaglio.ops.text import hash_functions
from intaglio.ops.text.hash_functions import SHORT_TEXTS, fingerprint_of_long, murmurhash
from intaglio.ops.text.native_strings import NO_EXPONENT

Run = Callable[..., Any]

# Digits that always fit into an int64.
MAX_INT64_DIGITS = 18
# Flags of a parsed number: its digits after the point, and whether it has a sign or a point.
NEGATIVE, POINT, UNUSUAL = 32, 64, 255


def _lengths() -> Kernel:
    walk = Walk("lengths")
    with walk.texts() as (i, _, size):
        walk.store(i, size)
    return walk.kernel(0, 0)


# -- hashes ----------------------------------------------------------------------------


def _hashing(name: str, write: Callable[[Walk, Text], Word]) -> Kernel:
    """Hashes of texts modulo a number of buckets; the hashes themselves for 0."""
    walk = Walk(name)
    code, buckets = walk.code, walk.more(0)
    whole = code.integer("icmp eq", buckets.name, 0)
    divisor = Word(code, code.let(f"select i1 {whole}, i64 1, i64 {buckets.name}"))
    with walk.texts() as (i, data, size):
        text = Text(code, data, size)
        hashed = write(walk, text)
        walk.store(i, text.choice(whole, hashed, hashed % divisor).name)
    return walk.kernel(0, 0)


def _fingerprint(walk: Walk, text: Text) -> Word:
    """The variant of the hash for a length."""
    code = walk.code
    done = code.new_label("hashed")
    variants: list[tuple[str, str]] = []
    for most, step in SHORT_TEXTS:
        near, far = code.new_label("near"), code.new_label("far")
        code.branch(code.integer("icmp sle", text.size.name, most), near, far)
        code.label(near)
        variants.append((step(text).name, code.block))
        code.jump(done)
        code.label(far)
    variants.append((fingerprint_of_long(text, text.size - 1 >> 6).name, code.block))
    code.jump(done)
    code.label(done)
    found = code.phi("i64")
    code.arrive(found, *variants)
    return Word(code, found.name)


def _siphash(walk: Walk, text: Text) -> Word:
    return hash_functions.siphash(text, text.size >> 3, walk.more(1), walk.more(2))


def _murmurhash(walk: Walk, text: Text) -> Word:
    return murmurhash(text, text.size >> 3)


# -- parts -----------------------------------------------------------------------------


def _parts() -> Kernel:
    """Substrings of so many bytes from an offset on, as new objects; one offset and length for all,
    or for each."""
    walk = Walk("parts")
    code = walk.code
    steps = [walk.more(i).name for i in range(2)]
    numbers = [walk.array(2 + i) for i in range(2)]
    with walk.texts() as (i, data, size):
        start, count = (
            code.load("i64", code.at("i64", array, code.integer("mul", i, step)), 8)
            for array, step in zip(numbers, steps, strict=True)
        )
        behind = code.integer("icmp slt", start, 0)
        back = code.let(f"select i1 {behind}, i64 {size}, i64 0")
        begin = code.integer("add", start, back)
        rest = code.integer("sub", size, begin)
        inside = code.integer("icmp ule", begin, size)
        with code.when(code.let(f"xor i1 {inside}, true")):
            walk.unexpected()
        with code.when(inside):
            every = code.integer("icmp ugt", count, rest)  # a negative number too
            taken = code.let(f"select i1 {every}, i64 {rest}, i64 {count}")
            walk.new_text(i, code.at("i8", data, begin), taken)
    return walk.kernel(2, 0)


def _characters() -> Kernel:
    """The number of characters of UTF-8 in each text: bytes that are no continuation bytes."""
    walk = Walk("characters")
    with walk.texts() as (i, data, size):
        walk.store(i, _begun(walk.code, data, size))
    return walk.kernel(0, 0)


def _begins(code: Code, data: str, at: str) -> str:
    """1 if the byte at an offset begins a character, else 0."""
    byte = code.load("i8", code.at("i8", data, at), 1)
    high = code.let(f"and i8 {byte}, {0xC0 - 256}")
    return code.let(f"zext i1 {code.let(f'icmp ne i8 {high}, {0x80 - 256}')} to i64")


def _begun(code: Code, data: str, size: str) -> str:
    """The number of bytes that begin a character."""
    with code.carrying("0", size, 1, ("i64", "0")) as loop:
        one = _begins(code, data, loop.index)
        loop.following = [code.integer("add", loop.values[0], one)]
    return loop.values[0]


def _character_parts() -> Kernel:
    """As `_parts`, by characters; no bytes for a negative number of them."""
    walk = Walk("character_parts")
    code = walk.code
    steps = [walk.more(i).name for i in range(2)]
    numbers = [walk.array(2 + i) for i in range(2)]
    with walk.texts() as (i, data, size):
        start, count = (
            code.load("i64", code.at("i64", array, code.integer("mul", i, step)), 8)
            for array, step in zip(numbers, steps, strict=True)
        )
        total = _begun(code, data, size)
        behind = code.integer("icmp slt", start, 0)
        back = code.let(f"select i1 {behind}, i64 {total}, i64 0")
        first = code.integer("add", start, back)
        inside = code.integer("icmp ule", first, total)
        with code.when(code.let(f"xor i1 {inside}, true")):
            walk.unexpected()
        with code.when(inside):
            none = code.integer("icmp slt", count, 0)
            taken = code.let(f"select i1 {none}, i64 0, i64 {count}")
            last = code.integer("add", first, code.least(taken, code.integer("sub", total, first)))
            bounds = [("i64", "0")] * 3
            # A byte precedes character n if at most n characters have begun.
            with code.carrying("0", size, 1, *bounds) as loop:
                begun, begin, end = loop.values
                begun = code.integer("add", begun, _begins(code, data, loop.index))
                loop.following = [begun, *_counted(code, begun, (begin, first), (end, last))]
            _, begin, end = loop.values
            walk.new_text(i, code.at("i8", data, begin), code.integer("sub", end, begin))
    return walk.kernel(2, 0)


def _counted(code: Code, begun: str, *bounds: tuple[str, str]) -> list[str]:
    """Each number plus one unless more characters than its bound have begun."""
    found: list[str] = []
    for number, bound in bounds:
        before = code.let(f"zext i1 {code.integer('icmp sle', begun, bound)} to i64")
        found.append(code.integer("add", number, before))
    return found


def _joined() -> Kernel:
    """Runs of texts joined: the texts, the start and length of each run, the separator."""
    code = Code("joined", entry.KERNEL)
    texts, words, starts, counts, glue = (
        code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(5)
    )
    out = code.load("ptr", code.at("ptr", "%outs", "0"), 8)
    runs, new, release, gap = (
        code.load("i64", code.at("i64", words, str(i)), 8) for i in (0, 2, 3, 4)
    )
    new, release = (code.let(f"inttoptr i64 {word} to ptr") for word in (new, release))

    def text(start: str, j: str) -> tuple[str, str]:
        found = code.load("ptr", code.at("ptr", texts, code.integer("add", start, j)), 8)
        size = code.load("i64", code.at("i8", found, str(layout.SIZE)), 8)
        return code.at("i8", found, str(layout.BYTES_DATA)), size

    with code.loop("0", runs) as i:
        start, count = (code.load("i64", code.at("i64", array, i), 8) for array in (starts, counts))
        several = code.integer("icmp sgt", count, 1)
        gaps = code.let(f"select i1 {several}, i64 {code.integer('sub', count, 1)}, i64 0")
        with code.carrying("0", count, 1, ("i64", code.integer("mul", gaps, gap))) as loop:
            loop.following = [code.integer("add", loop.values[0], text(start, loop.index)[1])]
        whole = code.let(f"call ptr {new}(ptr null, i64 {loop.values[0]})")
        with code.carrying("0", count, 1, ("i64", str(layout.BYTES_DATA))) as loop:
            data, size = text(start, loop.index)
            code.copy(code.at("i8", whole, loop.values[0]), data, size)
            end = code.integer("add", loop.values[0], size)
            with code.when(code.integer("icmp slt", loop.index, gaps)):
                code.copy(code.at("i8", whole, end), glue, gap)
            loop.following = [code.integer("add", end, gap)]
        pointer = code.at("ptr", out, i)
        before = code.load("ptr", pointer, 8)
        code.do(f"store ptr {whole}, ptr {pointer}, align 8")
        code.do(f"call void {release}(ptr {before})")
    code.do("ret void")
    return Kernel(code, 5, 2)


# -- letters and spaces ------------------------------------------------------------------


def _cased(name: str, first: str) -> Kernel:
    """Texts with the 26 ASCII letters from `first` on in the other case."""
    walk = Walk(name)
    code = walk.code
    with walk.texts() as (i, data, size):
        out = walk.fresh_text(i, size)
        with code.loop("0", size) as j:
            byte = code.load("i8", code.at("i8", data, j), 1)
            letter = code.let(f"icmp ult i8 {code.let(f'sub i8 {byte}, {ord(first)}')}, 26")
            other = code.let(f"xor i8 {byte}, 32")
            chosen = code.let(f"select i1 {letter}, i8 {other}, i8 {byte}")
            code.do(f"store i8 {chosen}, ptr {code.at('i8', out, j)}, align 1")
    return walk.kernel(0, 0)


def _stripped() -> Kernel:
    """Texts without the white space at both ends."""
    walk = Walk("stripped")
    code = walk.code
    with walk.texts() as (i, data, size):
        with code.carrying("0", size, 1, ("i64", size), ("i64", "0")) as loop:
            byte = walk.byte(data, loop.index)
            control = code.integer("icmp ult", code.integer("sub", byte, 9), 5)
            space = code.let(f"or i1 {control}, {code.integer('icmp eq', byte, 32)}")
            begin, end = loop.values
            behind = code.integer("add", loop.index, 1)
            loop.following = [
                walk.select(space, begin, code.least(begin, loop.index)),
                walk.select(space, end, behind),
            ]
        begin, end = loop.values
        some = code.integer("icmp slt", begin, end)
        length = walk.select(some, code.integer("sub", end, begin), 0)
        walk.new_text(i, code.at("i8", data, begin), length)
    return walk.kernel(0, 0)


# -- base 64 -----------------------------------------------------------------------------


def _base64() -> Kernel:
    """Texts in base 64: three bytes as four characters of the alphabet."""
    walk = Walk("base64")
    code, padded, alphabet = walk.code, walk.more(0), walk.array(2)

    def character(word: Word, number: int) -> str:
        return walk.byte(alphabet, (word >> 18 - 6 * number & 63).name)

    with walk.texts() as (i, data, size):
        whole, rest = (code.integer(what, size, 3) for what in ("udiv", "urem"))
        some = code.integer("icmp ne", rest, 0)
        missing = walk.select(some, code.integer("sub", 3, rest), 0)
        rounded = Word(code, whole) * 4 + Word(code, walk.select(some, 4, 0))
        bare = code.integer("icmp eq", padded.name, 0)
        cut = Word(code, walk.select(bare, missing, 0))
        out = walk.fresh_text(i, (rounded - cut).name)

        def three(at: Word) -> Word:
            first, second, third = (Word(code, walk.byte(data, (at + k).name)) for k in range(3))
            return first << 16 | second << 8 | third

        with code.loop("0", whole) as j:
            word, to = three(Word(code, j) * 3), Word(code, j) * 4
            for number in range(4):
                walk.put(out, (to + number).name, character(word, number))
        with code.when(some):
            at, to = Word(code, whole) * 3, Word(code, whole) * 4
            # Behind the last byte of an object is a zero.
            first, second = (Word(code, walk.byte(data, (at + k).name)) for k in range(2))
            word = first << 16 | second << 8
            for number in range(2):
                walk.put(out, (to + number).name, character(word, number))
            two = code.integer("icmp eq", rest, 2)
            with code.when(two):
                walk.put(out, (to + 2).name, character(word, 2))
            with code.when(code.integer("icmp ne", padded.name, 0)):
                walk.put(out, (to + 3).name, str(ord("=")))
                with code.when(code.let(f"xor i1 {two}, true")):
                    walk.put(out, (to + 2).name, str(ord("=")))
    return walk.kernel(1, 0)


def _from_base64() -> Kernel:
    """Decodes base 64; up to two signs of equality may pad the last group."""
    walk = Walk("from_base64")
    code, table = walk.code, walk.array(2)

    def ends(data: str, size: str, back: int) -> str:
        found = walk.byte(data, code.integer("sub", size, back))
        filling = code.integer("icmp eq", found, ord("="))
        return code.let(f"and i1 {filling}, {code.integer('icmp sge', size, back)}")

    with walk.texts() as (i, data, size):
        one = ends(data, size, 1)
        two = code.let(f"and i1 {one}, {ends(data, size, 2)}")
        filled = code.integer("add", *(code.let(f"zext i1 {x} to i64") for x in (one, two)))
        bare = code.integer("sub", size, filled)
        whole, rest = code.integer("lshr", bare, 2), code.integer("and", bare, 3)
        uneven = code.integer("icmp ne", code.integer("and", size, 3), 0)
        wrong = code.let(f"and i1 {one}, {uneven}")
        wrong = code.let(f"or i1 {wrong}, {code.integer('icmp eq', rest, 1)}")
        out = walk.fresh_text(i, code.integer("lshr", code.integer("mul", bare, 3), 2))

        def value(at: Word) -> Word:
            return Word(code, walk.byte(table, walk.byte(data, at.name)))

        with code.carrying("0", whole, 1, ("i64", "0")) as loop:
            at, to = Word(code, loop.index) * 4, Word(code, loop.index) * 3
            a, b, c, d = (value(at + k) for k in range(4))
            word = a << 18 | b << 12 | c << 6 | d
            for number in range(3):
                walk.put(out, (to + number).name, (word >> 16 - 8 * number).name)
            loop.following = [(Word(code, loop.values[0]) | a | b | c | d).name]
        bad = code.integer("icmp ugt", loop.values[0], 63)
        wrong = code.let(f"or i1 {wrong}, {bad}")
        with code.when(code.integer("icmp ugt", rest, 1)):
            at, to = Word(code, whole) * 4, Word(code, whole) * 3
            a, b = value(at), value(at + 1)
            with code.when((a | b) > 63):
                walk.unexpected()
            walk.put(out, to.name, (a << 2 | b >> 4).name)
            with code.when(code.integer("icmp eq", rest, 3)):
                c = value(at + 2)
                with code.when(c > 63):
                    walk.unexpected()
                walk.put(out, (to + 1).name, (b << 4 | c >> 2).name)
        with code.when(wrong):
            walk.unexpected()
    return walk.kernel(1, 0)


# -- numbers ---------------------------------------------------------------------------


def _numbers() -> Kernel:
    """The digits of decimal numbers as one integer, and flags in a byte.

    Anything but a sign, up to 18 digits and a point among them is flagged as unusual.
    """
    walk = Walk("numbers")
    notes = walk.result(2)
    with walk.texts() as (i, data, size):
        _number(walk, notes, i, data, size)
    return walk.kernel(0, 1)


def _span_numbers() -> Kernel:
    """As `_numbers`, of spans of one text: its bytes, and the start and length of each span."""
    walk = Walk("span_numbers")
    notes = walk.result(2)
    with walk.spans() as (i, data, size):
        _number(walk, notes, i, data, size)
    return walk.kernel(2, 1)


def _spans() -> Kernel:
    """Spans of one text as texts."""
    walk = Walk("spans")
    with walk.spans() as (i, data, size):
        walk.new_text(i, data, size)
    return walk.kernel(2, 0)


def _number(walk: Walk, notes: str, i: str, data: str, size: str) -> None:
    """Parses a number; reads at least the byte behind an empty text."""
    code, either, byte = walk.code, walk.select, walk.byte
    first = byte(data, "0")  # an empty text is unusual whatever follows it
    minus = code.integer("icmp eq", first, ord("-"))
    plus = code.integer("icmp eq", first, ord("+"))
    signed = code.let(f"or i1 {minus}, {plus}")
    start = either(signed, 1, 0)
    most = code.integer("icmp slt", size, MAX_INT64_DIGITS + 3)
    stop = either(most, size, 0)
    carried = [("i64", v) for v in ("0", "0", "0", "0", "0")]
    with code.carrying(start, stop, 1, *carried) as loop:
        value, digits, points, behind, wrong = loop.values
        digit = code.integer("sub", byte(data, loop.index), ord("0"))
        is_digit = code.integer("icmp ult", digit, 10)
        is_point = code.integer("icmp eq", digit, ord(".") - ord("0"))
        one = either(is_digit, 1, 0)
        shifted = code.integer("add", code.integer("mul", value, 10), digit)
        known = code.let(f"or i1 {is_digit}, {is_point}")
        loop.following = [
            either(is_digit, shifted, value),
            code.integer("add", digits, one),
            code.integer("add", points, either(is_point, 1, 0)),
            code.integer("add", behind, code.integer("mul", one, points)),
            either(known, wrong, 1),
        ]
    value, digits, points, behind, wrong = loop.values
    few = code.integer("icmp ule", code.integer("sub", digits, 1), MAX_INT64_DIGITS - 1)
    right = code.integer("icmp eq", wrong, 0)
    single = code.integer("icmp ule", points, 1)
    good = code.let(f"and i1 {code.let(f'and i1 {few}, {right}')}, {single}")
    note = code.integer("add", behind, code.integer("mul", points, POINT))
    note = code.integer("add", note, either(minus, NEGATIVE, 0))
    note = code.let(f"trunc i64 {either(good, note, UNUSUAL)} to i8")
    walk.store(i, value)
    code.do(f"store i8 {note}, ptr {code.at('i8', notes, i)}, align 1")


def _decimals() -> Kernel:
    """Numbers as texts: digits (uint64), signs, and powers of ten; for each number, or for all, the
    digits after the point, and the exponent or `NO_EXPONENT`.

    The words are the width, the sign of numbers that are not negative or 0, whether zeros pad the
    width, or spaces at the end, and the strides of points and exponents: 0 if one is for all.
    """
    walk = Walk("decimals")
    code = walk.code
    width, plus, zeros, left, by_point, by_exponent = (walk.more(k).name for k in range(6))
    negatives, powers, all_points, exponents = (walk.array(2 + k) for k in range(4))
    by_zeros, at_end = (code.integer("icmp ne", word, 0) for word in (zeros, left))
    with code.loop("0", walk.words["count"]) as i:
        value = code.load("i64", code.at("i64", walk.objects, i), 8)
        points, exponent = (
            code.load("i64", code.at("i64", array, code.integer("mul", i, step)), 8)
            for array, step in ((all_points, by_point), (exponents, by_exponent))
        )
        pointed = code.let(f"zext i1 {code.integer('icmp ne', points, 0)} to i64")
        scientific = code.integer("icmp ne", exponent, NO_EXPONENT)
        power = code.call("i64", "llvm.abs.i64", ("i64", exponent), ("i1", "false"))
        long = code.let(f"zext i1 {code.integer('icmp ugt', power, 99)} to i64")
        suffix = walk.select(scientific, code.integer("add", long, len("e+00")), 0)
        negative = code.integer("icmp ne", walk.byte(negatives, i), 0)
        sign = walk.select(negative, ord("-"), plus)
        signed = code.integer("icmp ne", sign, 0)
        least = code.integer("add", points, 1)
        length = _larger(walk, _digits_of(walk, value, powers), least)
        marks = code.integer("add", code.let(f"zext i1 {signed} to i64"), pointed)
        marks = code.integer("add", marks, suffix)
        padding = code.integer("sub", width, code.integer("add", length, marks))
        padding = _larger(walk, padding, "0")
        length = code.integer("add", length, walk.select(by_zeros, padding, 0))
        spaces = walk.select(by_zeros, 0, padding)
        body = code.integer("add", length, marks)
        size = code.integer("add", body, spaces)
        out = walk.fresh_text(i, size)
        with code.when(code.integer("icmp ne", spaces, 0)):
            code.call(
                "void",
                "llvm.memset.p0.i64",
                ("ptr", out),
                ("i8", "32"),
                ("i64", size),
                ("i1", "false"),
            )
        begin = walk.select(at_end, 0, spaces)
        with code.when(signed):
            walk.put(out, begin, sign)
        behind = code.integer("sub", code.integer("add", begin, body), suffix)
        last = code.integer("sub", behind, 1)
        with code.when(code.integer("icmp ne", points, 0)):
            walk.put(out, code.integer("sub", last, points), str(ord(".")))
        with code.carrying("0", length, 1, ("i64", value)) as loop:
            rest = loop.values[0]
            digit = code.integer("add", code.integer("urem", rest, 10), ord("0"))
            before = code.integer("icmp sge", loop.index, points)
            to = code.integer(
                "sub", code.integer("sub", last, loop.index), walk.select(before, pointed, 0)
            )
            walk.put(out, to, digit)
            loop.following = [code.integer("udiv", rest, 10)]
        with code.when(scientific):
            _put_exponent(walk, out, behind, suffix, exponent, power)
    return walk.kernel(4, 0)


def _put_exponent(walk: Walk, out: str, start: str, size: str, exponent: str, power: str) -> None:
    """Writes `e`, a sign and two digits or three."""
    code = walk.code
    walk.put(out, start, str(ord("e")))
    sign = walk.select(code.integer("icmp slt", exponent, 0), ord("-"), ord("+"))
    walk.put(out, code.integer("add", start, 1), sign)
    last = code.integer("sub", code.integer("add", start, size), 1)
    with code.carrying("0", code.integer("sub", size, 2), 1, ("i64", power)) as loop:
        rest = loop.values[0]
        digit = code.integer("add", code.integer("urem", rest, 10), ord("0"))
        walk.put(out, code.integer("sub", last, loop.index), digit)
        loop.following = [code.integer("udiv", rest, 10)]


def _larger(walk: Walk, x: str, y: str) -> str:
    return walk.select(walk.code.integer("icmp sgt", x, y), x, y)


def _digits_of(walk: Walk, value: str, powers: str) -> str:
    """The number of decimal digits; 1 for 0. A bit is 1233 / 4096 of a digit."""
    code = walk.code
    zeros = code.call("i64", "llvm.ctlz.i64", ("i64", code.integer("or", value, 1)), ("i1", "true"))
    bits = code.integer("sub", 64, zeros)
    digits = code.integer("lshr", code.integer("mul", bits, 1233), 12)
    power = code.load("i64", code.at("i64", powers, digits), 8)
    enough = code.let(f"zext i1 {code.integer('icmp uge', value, power)} to i64")
    return _larger(walk, code.integer("add", digits, enough), "1")


# -- distinct texts ----------------------------------------------------------------------


def _distinct() -> Kernel:
    """The index of each text among the distinct ones, in the order of first occurrence; and their
    positions.

    The hash table with open addressing has, in each slot, the position of a text plus one, or 0;
    the word behind it counts the distinct texts.
    """
    walk = Walk("distinct")
    code, mask = walk.code, walk.more(0)
    table, firsts = walk.array(2), walk.result(2)
    counter = code.at("i64", table, (mask + 1).name)
    with walk.texts() as (i, data, size):
        begin = (_fingerprint(walk, Text(code, data, size)) & mask).name
        probe, fresh, taken, same, other, done = map(
            code.new_label, ("probe", "fresh", "taken", "same", "other", "done")
        )
        start = code.block
        code.jump(probe)
        code.label(probe)
        slot = code.phi("i64")
        stored = code.load("i64", code.at("i64", table, slot.name), 8)
        code.branch(code.integer("icmp eq", stored, 0), fresh, taken)
        code.label(fresh)
        number = code.load("i64", counter, 8)
        one_up = code.integer("add", i, 1)
        code.do(f"store i64 {one_up}, ptr {code.at('i64', table, slot.name)}, align 8")
        code.do(f"store i64 {i}, ptr {code.at('i64', firsts, number)}, align 8")
        code.do(f"store i64 {code.integer('add', number, 1)}, ptr {counter}, align 8")
        walk.store(i, number)
        code.jump(done)
        code.label(taken)
        before = code.integer("sub", stored, 1)
        code.branch(_is_text(walk, walk.objects, before, data, size), same, other)
        code.label(same)
        walk.store(i, code.load("i64", code.at("i64", walk.out, before), 8))
        code.jump(done)
        code.label(other)
        following = (Word(code, slot.name) + 1 & mask).name
        code.arrive(slot, (begin, start), (following, other))
        code.jump(probe)
        code.label(done)
    return walk.kernel(1, 1)


def _found() -> Kernel:
    """The index of each text among the keys of a hash table, as `_distinct` fills it; -1 if it is
    none."""
    walk = Walk("found")
    code, mask = walk.code, walk.more(0)
    table, keys = walk.array(2), walk.array(3)
    with walk.texts() as (i, data, size):
        begin = (_fingerprint(walk, Text(code, data, size)) & mask).name
        probe, taken, other, done = map(code.new_label, ("probe", "taken", "other", "done"))
        start = code.block
        code.jump(probe)
        code.label(probe)
        slot = code.phi("i64")
        stored = code.load("i64", code.at("i64", table, slot.name), 8)
        number = code.integer("sub", stored, 1)
        walk.store(i, number)  # of an empty slot it is -1
        code.branch(code.integer("icmp eq", stored, 0), done, taken)
        code.label(taken)
        code.branch(_is_text(walk, keys, number, data, size), done, other)
        code.label(other)
        following = (Word(code, slot.name) + 1 & mask).name
        code.arrive(slot, (begin, start), (following, other))
        code.jump(probe)
        code.label(done)
    return walk.kernel(2, 0)


def _is_text(walk: Walk, objects: str, number: str, data: str, size: str) -> str:
    """True if a text of an array consists of these bytes."""
    code = walk.code
    text = code.load("ptr", code.at("ptr", objects, number), 8)
    own = code.at("i8", text, str(layout.BYTES_DATA))
    length = code.load("i64", code.at("i8", text, str(layout.SIZE)), 8)
    alike = code.integer("icmp eq", length, size)
    with code.carrying("0", walk.select(alike, size, 0), 1, ("i64", "0")) as loop:
        differing = code.integer("xor", walk.byte(own, loop.index), walk.byte(data, loop.index))
        loop.following = [code.integer("or", loop.values[0], differing)]
    equal = code.integer("icmp eq", loop.values[0], 0)
    return code.let(f"and i1 {alike}, {equal}")


# -- calls -----------------------------------------------------------------------------


KERNELS: dict[str, Callable[[], Kernel]] = {
    "lengths": _lengths,
    "characters": _characters,
    "character_parts": _character_parts,
    "joined": _joined,
    "fingerprint": lambda: _hashing("fingerprint", _fingerprint),
    "siphash": lambda: _hashing("siphash", _siphash),
    "murmurhash": lambda: _hashing("murmurhash", _murmurhash),
    "parts": _parts,
    "numbers": _numbers,
    "span_numbers": _span_numbers,
    "spans": _spans,
    "lower": lambda: _cased("lower", "A"),
    "upper": lambda: _cased("upper", "a"),
    "stripped": _stripped,
    "base64": _base64,
    "from_base64": _from_base64,
    "decimals": _decimals,
    "automaton": text_matching.automaton,
    "distinct": _distinct,
    "found": _found,
    "replaced": text_matching.replaced,
}
LIBRARIES = {
    name: Library(lambda write=write: Source([write()])) for name, write in KERNELS.items()
}
# Kernels that return nothing but texts.
WRITING = (
    "lower",
    "upper",
    "stripped",
    "base64",
    "from_base64",
    "decimals",
    "spans",
    "parts",
    "character_parts",
    "joined",
)
RESULTS: dict[str, list[Any]] = {
    **{name: [object] for name in WRITING},
    "lengths": [np.int64],
    "automaton": [np.int64],
    "characters": [np.int64],
    "distinct": [np.int64, np.int64],
    "found": [np.int64],
    "replaced": [object, np.uint8],
    "numbers": [np.int64, np.uint8],
    "span_numbers": [np.int64, np.uint8],
}


def texts(name: str) -> Run | None:
    """The function of an array of texts, further arrays, and further words in a list.

    It returns `count` results, or one for each text, or a list of several arrays; None if there are
    objects that are no texts, or a substring starts outside of its text. `joined` does not check
    the types of objects.
    """
    if not entry.AVAILABLE:
        return None
    kernel = LIBRARIES[name].entry(name, shared=False).for_dims((1,))
    dtypes = RESULTS.get(name, [np.uint64])
    addresses = [
        layout.address_of(bytes),
        layout.function_address("new_bytes"),
        layout.function_address("decref"),
    ]

    def run(objects: Any, *arrays: Any, words: Any = (), count: int = -1) -> Any:
        flat = np.ascontiguousarray(objects).reshape(-1)
        count = flat.size if count < 0 else count
        words_array = np.array([count, *addresses, *words], np.int64)
        results = [np.empty(count, dtype) for dtype in dtypes]
        flag = np.zeros(1, np.int64)
        kernel(flat, words_array, *arrays, results[0], flag, *results[1:])
        if flag[0]:
            return None
        return results[0] if len(results) == 1 else results

    return run
