"""`intaglio plan SCRIPT`: the bytes that replicas send each other, and what more hosts would send."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from intaglio import backend, xla
from intaglio.tools import children, programs

HOSTS = (1, 2, 4, 8)
USAGE = """\
usage: intaglio plan SCRIPT [ARGUMENT ...]

Runs a program with INTAGLIO_BACKEND=xla, and prints the collectives of the XLA programs that several devices
carry out together: how many there are in a call, and the bytes of their results on each device. Below stand the
bytes that each of 1 to 8 hosts would send in a call, by rings, if every host were a device with as much data.
"""


def plan(arguments: Sequence[str]) -> int:
    """The command; the exit code is the program's."""
    if not arguments or arguments[0].startswith("-"):
        print(USAGE, end="", file=sys.stdout if arguments[:1] == ["--help"] else sys.stderr)
        return 0 if arguments[:1] == ["--help"] else 2
    xla.check_installed()
    children.install()
    with backend("xla"), xla.collectives.observing() as observed:
        try:
            code = programs.run_file(arguments[0], list(arguments[1:]))
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else int(e.code is not None)
    print(report(observed))
    return code


def report(observed: Sequence[xla.collectives.Observed]) -> str:
    """The tables."""
    found = [p for p in observed if p.devices > 1]
    if not found:
        return "no XLA program of several devices: functions with jit_compile=True in which strategy.run is called"
    rows = [["program", "devices", "collective", "in a call", "bytes"]]
    sums = [["program", "collective", *[f"{n} hosts" for n in HOSTS]]]
    for program in found:
        for one in program.collectives:
            rows.append(
                [program.name, str(program.devices), one.kind, str(one.number), f"{one.bytes:,}"]
            )
            bytes_of_hosts = [xla.collectives.sent(one, program.devices, n) for n in HOSTS]
            sums.append([program.name, one.kind, *[f"{round(b):,}" for b in bytes_of_hosts]])
    return f"{_table(rows)}\n\nbytes that a host sends in a call\n{_table(sums)}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        ["  ".join([c.ljust(w) for c, w in zip(r, widths, strict=True)]).rstrip() for r in rows]
    )
