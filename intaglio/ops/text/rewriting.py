"""Matches rewritten with their groups, by machine code over all texts at once.

A match is found by backtracking over the steps of a pattern (`automata.Program`). No step is tried
twice at one position, so the time is linear in the text (R. Cox, Regular Expression Matching: the
Virtual Machine Approach). Texts beyond ASCII, and those that need a deep stack, are left to others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.ops.restricted import run_loops
from intaglio.ops.text.automata import ACCEPTS, ASCII, BEGINS, ENDS, READS, SPLITS, Program
from intaglio.ops.text.native_strings import MIN_NATIVE_STRINGS, Spans

# The cost of a byte of a text without machine code, in multiplications.
WORK_PER_BYTE = 60
# Bytes of memory for the visited states, and for results.
MAX_MEMORY = 1 << 27
# Entries of the stack for a text, and for each of its bytes.
STACK, STACK_PER_BYTE = 64, 2
# Results that are no match: there is none, or the stack is full.
_NONE, _FULL = -1, -2


def _match(
    kinds: Any, first: Any, targets: Any, bounds: Any, sets: Any, count: Any, start: Any,
    text: Any, size: Any, at: Any, tried: Any, stack: Any, capacity: Any, places: Any,
) -> Any:  # fmt: skip
    """The end of the preferred match from a position on, and the end of what was read; its groups
    are `places`."""
    furthest, depth = at, 1
    stack[0], stack[1] = start, at
    while depth > 0:
        depth -= 1
        state, position = stack[2 * depth], stack[2 * depth + 1]
        if state < 0:  # the saved position of a group is restored
            places[-1 - state] = position
            continue
        while not tried[position * count + state]:
            tried[position * count + state] = 1
            furthest = max(furthest, position)
            kind = kinds[state]
            if kind == ACCEPTS:
                return position, furthest
            target = first[state]
            if kind == READS:
                if position >= size or not sets[ASCII * state + text[position]]:
                    break
                position += 1
            elif kind == SPLITS:
                last = first[state + 1] - 1
                if depth + last - target > capacity:
                    return _FULL, furthest
                for i in range(last, target, -1):
                    stack[2 * depth] = targets[i]
                    stack[2 * depth + 1] = position
                    depth += 1
            elif kind == BEGINS:
                if position != 0:
                    break
            elif kind == ENDS:
                if position != size:
                    break
            else:
                if depth >= capacity:
                    return _FULL, furthest
                place = bounds[state]
                stack[2 * depth] = -1 - place
                stack[2 * depth + 1] = places[place]
                depth += 1
                places[place] = position
            state = targets[target]
    return _NONE, furthest


def _copied(out: Any, to: Any, text: Any, start: Any, stop: Any) -> Any:
    """Copies bytes; gives where the next ones go."""
    for i in range(start, stop):
        out[to] = text[i]
        to += 1
    return to


def rewrite_rows(
    out: Any, sizes: Any, notes: Any, out_starts: Any, tried: Any, stack: Any, places: Any,
    whole: Any, starts: Any, lengths: Any,
    kinds: Any, first: Any, targets: Any, bounds: Any, sets: Any, beginning: Any,
    parts: Any, literals: Any,
    count: Any, start: Any, groups: Any, pieces: Any, every: Any, begin: Any, end: Any,
) -> None:  # fmt: skip
    """Each text with its first match, or every one, rewritten into `out`; a note is 1 for one that is left.

    `parts` are triples: a group, or -1 and where a literal begins and ends.
    """
    for row in range(begin, end):
        size, text = lengths[row], whole[starts[row] :]
        result = out[out_starts[row] :]
        # The visited states, the stack and the groups of this text.
        own = tried[count * (starts[row] + row) :]
        capacity = STACK + STACK_PER_BYTE * size
        own_stack = stack[2 * (STACK * row + STACK_PER_BYTE * starts[row]) :]
        found = places[(2 * groups + 2) * row :]
        to, at, copied = 0, 0, 0
        plain = True
        for i in range(size):
            if text[i] >= ASCII:
                plain = False
        while plain and at < size:
            if not beginning[text[at]]:
                at += 1
                continue
            for i in range(2 * groups + 2):
                found[i] = -1
            stop, furthest = _match(
                kinds, first, targets, bounds, sets, count, start,
                text, size, at, own, own_stack, capacity, found,
            )  # fmt: skip
            if stop == _FULL:
                plain = False
            elif stop == _NONE:
                at += 1
            else:
                found[0], found[1] = at, stop
                to = _copied(result, to, text, copied, at)
                for i in range(pieces):
                    group = parts[3 * i]
                    if group < 0:
                        to = _copied(result, to, literals, parts[3 * i + 1], parts[3 * i + 2])
                    elif found[2 * group] >= 0:
                        to = _copied(result, to, text, found[2 * group], found[2 * group + 1])
                at, copied = stop, stop
                if not every:
                    break
                for i in range(stop * count, (furthest + 1) * count):
                    own[i] = 0
        sizes[row] = _copied(result, to, text, copied, size)
        notes[row] = 0 if plain else 1


def rewritten(
    texts: list[bytes], program: Program, parts: Sequence[bytes | int], every: bool
) -> tuple[np.ndarray, np.ndarray] | None:
    """The texts with their first match, or all, rewritten, and which texts (uint8) are left to do.

    None where there is no machine code, or they are few.
    """
    if len(texts) < MIN_NATIVE_STRINGS or not program.targets.size:
        return None
    whole = b"".join(texts)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.cumsum(lengths)
    starts = ends - lengths
    literals = b"".join([part for part in parts if isinstance(part, bytes)])
    table: list[int] = []
    at = 0
    for part in parts:
        if isinstance(part, bytes):
            table += [-1, at, at + len(part)]
            at += len(part)
        else:
            table += [part, 0, 0]
    references = sum(isinstance(part, int) for part in parts)
    # A match is a byte at least, for which there are all literals; groups are parts of a match.
    most = lengths * (1 + references + len(literals))
    count, rows = program.kinds.size, len(texts)
    total, memory = int(most.sum()), count * (len(whole) + rows)
    if max(total, memory) > MAX_MEMORY:
        return None
    out, sizes = np.empty(total + 1, np.uint8), np.empty(rows, np.int64)
    notes = np.empty(rows, np.uint8)
    offsets = np.cumsum(most) - most
    done = run_loops(
        rewrite_rows,
        WORK_PER_BYTE * len(whole),
        out, sizes, notes, offsets, np.zeros(memory, np.uint8),
        np.empty(2 * (STACK * rows + STACK_PER_BYTE * len(whole)) + 2, np.int64),
        np.empty((2 * program.groups + 2) * rows, np.int64),
        np.frombuffer(whole or b"\0", np.uint8), starts, lengths,
        program.kinds, program.first, program.targets, program.bounds, program.sets,
        program.beginning, np.array(table or [0], np.int64),
        np.frombuffer(literals or b"\0", np.uint8),
        count, program.start, program.groups, len(parts), int(every),
        rows=rows,
    )  # fmt: skip
    return (Spans(out.tobytes(), offsets, sizes).array(), notes) if done else None
