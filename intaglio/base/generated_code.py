"""Generated Python code: its source, its globals and a map of its lines.

Graphs, entries of traced functions, calls of native programs and eager calls become flat Python
functions. All of them are compiled here, so that a frame of generated code can be recognised and
explained, whichever module generated it.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

# The global of generated code that refers to its GeneratedCode.
_SELF = "__generated_code__"
# The `__name__` of generated code, by which warning filters recognise the package.
_MODULE = "intaglio.generated"


@functools.lru_cache(maxsize=512)
def _code(source: str, filename: str) -> CodeType:
    """The code object of a source, cached: graphs that a program builds repeatedly share it.

    `fit` and `predict` of Keras create their datasets again at every call, and CPython never frees the
    interned file names of code that it compiles.
    """
    return compile(source, filename, "exec")


class GeneratedCode:
    """Source that defines functions, its globals, and a map of its lines.

    `name` describes the code, such as "graph f": it shows in tracebacks as the file
    `<intaglio graph f>`. `line_map[i]` is the origin of line i + 1, such as the node of a
    graph; lines beyond its end have none.
    """

    __slots__ = ("filename", "globals", "line_map", "source")

    def __init__(
        self, name: str, source: str, globals: dict[str, Any], line_map: Sequence[Any] = ()
    ) -> None:
        self.filename = f"<intaglio {name}>"
        self.source = source
        self.globals = globals
        self.line_map = line_map
        globals[_SELF] = self
        globals.setdefault("__name__", _MODULE)

    def function(self, name: str) -> Any:
        """The function of this name that the source defines."""
        exec(_code(self.source, self.filename), self.globals)
        return self.globals[name]

    def at(self, line: int) -> Any:
        """The origin of a line, counted from 1, or None."""
        return self.line_map[line - 1] if 0 < line <= len(self.line_map) else None

    def show(self) -> None:
        """Registers the source with `linecache`, so that tracebacks show its lines.

        Called only when an error has passed through the code, as the text need not be kept otherwise.
        """
        lines = self.source.splitlines(keepends=True)
        linecache.cache[self.filename] = (len(self.source), None, lines, self.filename)

    @staticmethod
    def of(frame: FrameType) -> GeneratedCode | None:
        """The generated code that a frame runs, or None for other code."""
        return frame.f_globals.get(_SELF)

    @staticmethod
    def behind(function: Any) -> GeneratedCode | None:
        """The generated code that defines a function, or None for another."""
        return function.__globals__.get(_SELF)
