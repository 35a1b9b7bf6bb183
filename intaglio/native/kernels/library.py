"""Kernels that share a source module, each compiled on its first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from intaglio.base.locks import lasting_lock
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.runtime import entry


class Kernel(NamedTuple):
    """A kernel that Python calls: its code, how many arrays it takes and gives, the number of which
    parts of its outermost loop are best multiples, and whether it runs only if a flag is set."""

    code: Code
    inputs: int
    outputs: int = 1
    unit: int = 1
    flagged: bool = False


class Source(NamedTuple):
    """The source of a module: kernels, the functions they call, the text before them, a table of
    functions that several modules share, and LLVM's optimisation level."""

    kernels: Sequence[Kernel]
    called: Sequence[Code] = ()
    text: str = ""
    table: jit.SharedTable | None = None
    effort: int = jit.KERNEL_EFFORT


# A reference to a name of the module in the text of a function.
_REFERENCE = re.compile(r"@([\w.]+)")


class Library:
    """The entries of kernels that share a source.

    A kernel is compiled when it is first used, with the functions that it calls: a program of
    convolutions does not wait for the code of their gradients.
    """

    def __init__(self, write: Callable[[], Source]) -> None:
        """`write` returns the source; it is called once, on the first use of a kernel."""
        self._write = write
        self._lock = lasting_lock()
        self._source: Source | None = None
        self._entries: dict[str, entry.Entry] = {}

    def entry(
        self, name: str, shared: bool = True, table_entries: Collection[int] | None = None
    ) -> entry.Entry:
        """The entry of a kernel, on all threads or on the caller's alone.

        It uses these entries of the source's shared table, or all.
        """
        with self._lock:
            if self._source is None:
                self._source = self._write()
            table = self._source.table
            if table is not None:
                table.define(table_entries)
            if name not in self._entries:
                self._compile(self._source, name)
        return self._entries[f"{name}_shared" if shared else name]

    def _compile(self, source: Source, name: str) -> None:
        """Compiles a kernel, and adds its entry and those of kernels that it calls."""
        text, needed = _part(source, name)
        compiled = jit.Module(text, source.effort)
        for code, inputs, outputs, unit, flagged in source.kernels:
            own = code.name
            if own in needed and own not in self._entries:
                shared = entry.Entry(compiled, own, inputs, outputs, unit=unit, flagged=flagged)
                self._entries[own] = entry.Entry(compiled, own, inputs, outputs)
                self._entries[f"{own}_shared"] = shared


def _part(source: Source, name: str) -> tuple[str, set[str]]:
    """The text of a module with a kernel and all names that it refers to, and these names."""
    functions = {c.name: c for c in [*source.called, *[kernel.code for kernel in source.kernels]]}
    lines = source.text.splitlines(keepends=True)
    constants = {found[1]: line for line in lines if (found := _REFERENCE.match(line))}
    needed, waiting = set[str](), [name]
    while waiting:
        found = waiting.pop()
        if found not in needed and (found in functions or found in constants):
            needed.add(found)
            text = functions[found].text() if found in functions else constants[found]
            waiting += _REFERENCE.findall(text)
    kept = [x for x in lines if not (found := _REFERENCE.match(x)) or found[1] in needed]
    table = [source.table.declaration] if source.table is not None else []
    code = module([c for own, c in functions.items() if own in needed])
    return "".join([*table, *kept, code]), needed
