"""The collectives of compiled programs: what devices send each other, read off the optimised HLO."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

_KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_CALL = re.compile(rf"= (.+?) ({'|'.join(_KINDS)})(-start)?\(")
# The starts of asynchronous ones whose results are pairs of operands and results.
_PAIRS = ("all-gather", "collective-permute")
_ARRAY = re.compile(r"\b([a-z]+)(\d*)[a-z0-9]*\[([\d,]*)\]")


class Collective(NamedTuple):
    """The collectives of one kind in a program: how many, and the bytes of their results on a device."""

    kind: str
    number: int
    bytes: int


class Observed(NamedTuple):
    """A program: the name of its graph, on how many devices it runs, and what these send."""

    name: str
    devices: int
    collectives: tuple[Collective, ...]


# Each gets the name of a graph and the text of its compiled program.
OBSERVERS: list[Callable[[str, str], None]] = []


def read_collectives(text: str) -> tuple[Collective, ...]:
    """The collectives of an HLO module, by kind. A loop's body counts once."""
    found: dict[str, list[int]] = {}
    for result, kind, start in _CALL.findall(text):
        is_pair = start and kind in _PAIRS and result.startswith("(")
        found.setdefault(kind, []).append(_bytes_of(_second(result) if is_pair else result))
    return tuple([Collective(k, len(found[k]), sum(found[k])) for k in _KINDS if k in found])


def _second(shape: str) -> str:
    """The second shape of a tuple: `f32[8]` of `(f32[2]{0}, f32[8]{0}, u32[])`, without its layout."""
    depth, parts = 0, [""]
    for letter in re.sub(r"\{[^}]*\}|/\*.*?\*/", "", shape)[1:-1]:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts[1]


def _bytes_of(shape: str) -> int:
    """The bytes of an array, or of all arrays of a tuple: `(f32[2,3]{1,0}, pred[])`."""
    total = 0
    for kind, bits, dims in _ARRAY.findall(shape):
        size = 1 if kind == "pred" else int(bits or 8) // 8
        for dim in filter(None, dims.split(",")):
            size *= int(dim)
        total += size
    return total


def _devices_of(text: str) -> int:
    found = re.search(r"num_partitions=(\d+)", text)
    return int(found[1]) if found else 1


@contextmanager
def observing() -> Generator[list[Observed]]:
    """The programs that are made in the block. Each is compiled once more, to be read."""
    programs: list[Observed] = []

    def observe(name: str, text: str) -> None:
        programs.append(Observed(name, _devices_of(text), read_collectives(text)))

    OBSERVERS.append(observe)
    try:
        yield programs
    finally:
        OBSERVERS.remove(observe)


def sent(collective: Collective, devices: int, hosts: int) -> float:
    """The bytes that each of `hosts` sends, by a ring, if each takes the place of a device of `devices`."""
    size = collective.bytes
    share = (hosts - 1) / hosts
    if collective.kind == "all-reduce":  # a reduce-scatter, then an all-gather
        return 2 * share * size
    if collective.kind == "all-gather":  # the result grows with the number of hosts
        return (hosts - 1) * size / devices
    if collective.kind == "reduce-scatter":  # the result is a share of what is reduced
        return share * size * devices
    return share * size if collective.kind == "all-to-all" else min(hosts - 1, 1) * size


__all__ = ["OBSERVERS", "Collective", "Observed", "observing", "read_collectives", "sent"]
