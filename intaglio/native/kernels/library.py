"""Kernels in one module, compiled on the first use of one of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from intaglio.base.locks import lasting_lock
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.runtime import entry


class Kernel(NamedTuple):
    """A kernel that Python calls: its code, how many arrays it takes and gives, and the
    number of which parts of its outermost loop are best multiples."""

    code: Code
    inputs: int
    outputs: int = 1
    unit: int = 1


class Source(NamedTuple):
    """The parts of a module: kernels, the functions they call, what precedes them in the text, and
    a table of functions that the module shares with others."""

    kernels: Sequence[Kernel]
    called: Sequence[Code] = ()
    text: str = ""
    table: jit.SharedTable | None = None


class Library:
    """The entries of a module's kernels."""

    def __init__(self, write: Callable[[], Source]) -> None:
        """`write` is called once, on the first use of a kernel."""
        self._write = write
        self._lock = lasting_lock()
        self._entries: dict[str, entry.Entry] = {}
        self._table: jit.SharedTable | None = None

    def entry(
        self, name: str, shared: bool = True, table_entries: Collection[int] | None = None
    ) -> entry.Entry:
        """The entry of a kernel, on all threads or on the caller's alone.

        It uses these entries of the table of the source, or all.
        """
        with self._lock:
            if not self._entries:
                self._entries = self._compiled()
            if self._table is not None:
                self._table.define(table_entries)
        return self._entries[f"{name}_shared" if shared else name]

    def _compiled(self) -> dict[str, entry.Entry]:
        source = self._write()
        functions = [*source.called, *[kernel.code for kernel in source.kernels]]
        text = source.text + module(functions)
        if source.table is not None:
            self._table = source.table
            source.table.define(())
            text = source.table.declaration + text
        compiled = jit.Module(text)
        entries: dict[str, entry.Entry] = {}
        for code, inputs, outputs, unit in source.kernels:
            name = code.name
            entries[name] = entry.Entry(compiled, name, inputs, outputs)
            entries[f"{name}_shared"] = entry.Entry(compiled, name, inputs, outputs, unit=unit)
        return entries
