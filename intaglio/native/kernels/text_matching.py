"""Kernels that run automata of regular expressions (`ops/text/automata.py`) over arrays of texts."""

from __future__ import annotations

from intaglio.native.kernels.library import Kernel
from intaglio.native.kernels.text_walk import Walk
from intaglio.native.llvm.integers import Word
from intaglio.ops.text.automata import AT_END, BYTES, HERE, OTHER

# The most steps of an automaton for each byte of a text.
MAX_STEPS_PER_BYTE = 64


def automaton() -> Kernel:
    """The flags of an automaton's final state for each text (`ops/text/automata.py`): 256 times the
    state is the offset of its row in a table of int32, which has 256 times the next state for each
    byte."""
    walk = Walk("automaton")
    code, start = walk.code, walk.more(0).name
    table, ends = walk.array(2), walk.array(3)
    with walk.texts() as (i, data, size):
        with code.carrying("0", size, 1, ("i64", start)) as loop:
            at = code.integer("add", loop.values[0], walk.byte(data, loop.index))
            entered = code.load("i32", code.at("i32", table, at), 4)
            loop.following = [code.let(f"zext i32 {entered} to i64")]
        state = code.integer("lshr", loop.values[0], 8)
        walk.store(i, code.load("i64", code.at("i64", ends, state), 8))
    return walk.kernel(2, 0)


def replaced() -> Kernel:
    """Matches of an automaton replaced by a text; a flag is 1 for a text that is left unchanged.

    The arrays are the automaton's table and bits (`ops/text/automata.py`), the replacement, and
    memory for the matches of one text; the words its two first states, the length of the
    replacement, and whether all matches are replaced.
    """
    walk = Walk("replaced")
    code, notes = walk.code, walk.result(2)
    instead, spans = walk.array(4), walk.array(5)
    width, every = walk.more(2), code.integer("icmp ne", walk.more(3).name, 0)
    with walk.texts() as (i, data, size):
        count, removed, known = _found_matches(walk, data, size, spans, every)
        grown = Word(code, count) * width - Word(code, removed) + Word(code, size)
        out = walk.fresh_text(i, grown.name)
        with code.carrying("0", count, 1, ("i64", "0"), ("i64", "0")) as loop:
            read, to = loop.values
            start, end = _span(walk, spans, loop.index)
            gap = code.integer("sub", start, read)
            code.copy(code.at("i8", out, to), code.at("i8", data, read), gap)
            to = code.integer("add", to, gap)
            code.copy(code.at("i8", out, to), instead, width.name)
            loop.following = [end, code.integer("add", to, width.name)]
        read, to = loop.values
        rest = code.integer("sub", size, read)
        code.copy(code.at("i8", out, to), code.at("i8", data, read), rest)
        note = code.let(f"xor i8 {code.let(f'zext i1 {known} to i8')}, 1")
        code.do(f"store i8 {note}, ptr {code.at('i8', notes, i)}, align 1")
    return walk.kernel(4, 1)


def _span(walk: Walk, spans: str, number: str) -> tuple[str, str]:
    """The start and end of a match."""
    code = walk.code
    at = code.integer("mul", number, 2)
    both = (at, code.integer("add", at, 1))
    start, end = (code.load("i64", code.at("i64", spans, a), 8) for a in both)
    return start, end


def _found_matches(
    walk: Walk, data: str, size: str, spans: str, every: str
) -> tuple[str, str, str]:
    """Stores the spans of matches; returns their number, their bytes, and whether the automaton
    decided them.

    It does not if a byte beyond ASCII might belong to one, or if many starts lead far.
    """
    code = walk.code
    outer, begin, record, skip, done = map(
        code.new_label, ("outer", "begin", "record", "skip", "done")
    )
    most = (Word(code, size) * MAX_STEPS_PER_BYTE + MAX_STEPS_PER_BYTE).name
    entered = code.block
    code.jump(outer)
    code.label(outer)
    position, count, removed, steps = (code.phi("i64") for _ in range(4))
    inside = code.integer("icmp slt", position.name, size)
    few = code.integer("icmp slt", steps.name, most)
    code.branch(code.let(f"and i1 {inside}, {few}"), begin, done)
    outer_end = code.block
    code.label(begin)
    last, reached, known = _longest_match(walk, data, size, position.name)
    longer = code.integer("icmp sgt", last, position.name)
    taken = code.integer("sub", reached, position.name)
    total = (Word(code, steps.name) + Word(code, taken) + 1).name
    total = walk.select(known, total, most)
    code.branch(longer, record, skip)
    code.label(record)
    at = code.integer("mul", count.name, 2)
    code.do(f"store i64 {position.name}, ptr {code.at('i64', spans, at)}, align 8")
    behind = code.at("i64", spans, code.integer("add", at, 1))
    code.do(f"store i64 {last}, ptr {behind}, align 8")
    matched = code.integer("sub", last, position.name)
    one_more = code.integer("add", count.name, 1)
    bytes_removed = code.integer("add", removed.name, matched)
    following = walk.select(every, last, size)
    code.jump(outer)
    code.label(skip)
    next_one = code.integer("add", position.name, 1)
    code.jump(outer)
    for phi, first, recorded, skipped in (
        (position, "0", following, next_one),
        (count, "0", one_more, count.name),
        (removed, "0", bytes_removed, removed.name),
        (steps, "0", total, total),
    ):
        code.arrive(phi, (first, entered), (recorded, record), (skipped, skip))
    code.label(done)
    found, gone, all_known = (code.phi(kind) for kind in ("i64", "i64", "i1"))
    code.arrive(found, (count.name, outer_end))
    code.arrive(gone, (removed.name, outer_end))
    code.arrive(all_known, (few, outer_end))
    return found.name, gone.name, all_known.name


def _longest_match(walk: Walk, data: str, size: str, position: str) -> tuple[str, str, str]:
    """The end of the preferred match from a position on, 0 if there is none; the end of what was
    read; and whether all bytes were ones that the automaton supports."""
    code = walk.code
    table, matches = walk.array(2), walk.array(3)
    head, read, advance, at_end, ended = map(
        code.new_label, ("head", "read", "advance", "at_end", "ended")
    )
    beginning = code.integer("icmp eq", position, 0)
    first = walk.select(beginning, walk.more(0).name, walk.more(1).name)
    entered = code.block
    code.jump(head)
    code.label(head)
    at, state, last = (code.phi("i64") for _ in range(3))
    code.branch(code.integer("icmp slt", at.name, size), read, at_end)
    code.label(read)
    cell = code.integer("add", state.name, walk.byte(data, at.name))
    narrow = code.load("i32", code.at("i32", table, cell), 4)
    after = code.let(f"zext i32 {narrow} to i64")
    alive = code.integer("icmp ugt", after, OTHER * BYTES)
    unknown = code.integer("icmp eq", after, OTHER * BYTES)
    code.branch(alive, advance, ended)
    code.label(advance)
    behind = code.integer("add", at.name, 1)
    bits = code.load("i64", code.at("i64", matches, code.integer("lshr", after, 8)), 8)
    here = code.integer("icmp ne", code.integer("and", bits, HERE), 0)
    further = walk.select(here, behind, last.name)
    code.jump(head)
    for phi, value, new in ((at, position, behind), (state, first, after), (last, "0", further)):
        code.arrive(phi, (value, entered), (new, advance))
    code.label(at_end)
    bits = code.load("i64", code.at("i64", matches, code.integer("lshr", state.name, 8)), 8)
    ending = code.integer("icmp ne", code.integer("and", bits, AT_END), 0)
    final = walk.select(ending, size, last.name)
    code.jump(ended)
    code.label(ended)
    end, doubtful = code.phi("i64"), code.phi("i1")
    code.arrive(end, (last.name, read), (final, at_end))
    code.arrive(doubtful, (unknown, read), ("false", at_end))
    return end.name, at.name, code.let(f"xor i1 {doubtful.name}, true")
