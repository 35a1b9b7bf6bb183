"""Where in the user's program an object was created: file, line, function."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from types import CodeType, FrameType
from typing import NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# Whether code is the package's own, or runs programs, by file name: code objects are slow to hash.
_ours: dict[str, bool | str] = {}


class Frame(NamedTuple):
    """One line of a traceback in the user's code."""

    filename: str
    lineno: int
    function: str

    @property
    def source(self) -> str:
        """The line's text, or nothing if it cannot be read."""
        return linecache.getline(self.filename, self.lineno).strip()

    @property
    def source_line(self) -> str:
        """The line's text with its indentation."""
        return linecache.getline(self.filename, self.lineno).rstrip()

    @property
    def short(self) -> str:
        """The file's name without its folder, and the line: `model.py:12`."""
        return f"{os.path.basename(self.filename)}:{self.lineno}"

    def __str__(self) -> str:
        return f'File "{self.filename}", line {self.lineno}, in {self.function}'


# A recorded stack: (code, instruction offset) pairs, innermost first. Lines are worked
# out only on access, because tracing records one of these for every node.
Origin = tuple[tuple[CodeType, int], ...]

MAX_FRAMES = 6


class _Enclosing(threading.local):
    """A frame of this thread that waits for the code it has called, and the origin of its callers."""

    frame: FrameType | None = None
    origin: Origin = ()


_enclosing = _Enclosing()


class enclosing:
    """A context of this package around code that captures many origins, such as a trace.

    The frames of the context and of its callers do not change while it lasts: they are walked once.
    """

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        self._before = _enclosing.frame, _enclosing.origin
        _enclosing.origin = capture(2)
        _enclosing.frame = frame

    def __exit__(self, *error: object) -> None:
        _enclosing.frame, _enclosing.origin = self._before


def capture(skip: int = 1, most: int = MAX_FRAMES) -> Origin:
    """The innermost frames of the caller that are not this package's own."""
    try:
        frame = sys._getframe(skip)
    except ValueError:
        return ()
    found: list[tuple[CodeType, int]] = []
    known = _ours
    end = _enclosing.frame if most <= MAX_FRAMES else None
    while frame is not None:
        if frame is end:
            found += _enclosing.origin[: most - len(found)]
            break
        code = frame.f_code
        is_own = known.get(code.co_filename)
        if is_own is None:
            is_own = known[code.co_filename] = is_ours(code)
        if not is_own:
            found.append((code, frame.f_lasti))
            if len(found) == most:
                break
        elif is_own is _RUNNER:
            while found and found[-1][0].co_filename == _RUNPY:
                found.pop()
            break
        frame = frame.f_back
    return tuple(found)


# What `_ours` has for a file that runs the user's program: the stack of the program ends there.
_RUNNER = "runner"
_RUNPY = "<frozen runpy>"


def runs_programs(filename: str) -> None:
    """From now on stacks end at frames of this file, whose callers are no part of the user's program."""
    _ours[filename] = _RUNNER


_EMPTY = compile("", "", "exec")


def at(filename: str, lineno: int, function: str) -> Origin:
    """The origin of something in a line that is known by name alone, as of a graph that was a text."""
    code = _EMPTY.replace(
        co_filename=filename, co_firstlineno=lineno, co_name=function, co_linetable=b""
    )
    return ((code, 0),)


def is_ours(code: CodeType) -> bool:
    """True for code of this package and for code that it generates."""
    name = code.co_filename
    return name.startswith((PACKAGE, "<intaglio"))


def running(frame: FrameType) -> Frame:
    """The line that a frame executes; of instructions that belong to none, the first one of its code."""
    code = frame.f_code
    line: int | None = frame.f_lineno
    return Frame(code.co_filename, line or code.co_firstlineno, code.co_name)


def innermost() -> Frame | None:
    """The user's line that runs now, or None if there is none."""
    return next(iter(frames(capture(2, 1))), None)


def caller() -> Origin:
    """The stack of the program that calls, without the frames of installed libraries inside of it.

    `model.fit(x)` is what a program does; which line of Keras does it there says nothing to its author.
    """
    whole = capture(2, sys.maxsize)
    first = next((i for i, (code, _) in enumerate(whole) if not _is_installed(code)), 0)
    return whole[first : first + MAX_FRAMES]


_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def _is_installed(code: CodeType) -> bool:
    return any(folder in code.co_filename for folder in _INSTALLED)


_LIBRARY = os.path.dirname(os.__file__) + os.sep


def is_of_standard_library(filename: str) -> bool:
    """True for a file of Python's library, not of what is installed into it."""
    return filename.startswith(_LIBRARY) and not any(folder in filename for folder in _INSTALLED)


def stack(skip: int = 1) -> Origin:
    """As `capture`, all frames of the user's."""
    return capture(skip + 1, sys.maxsize)


def is_ours_by_name(code: CodeType) -> bool:
    """As `is_ours`, remembered for each file."""
    known = _ours.get(code.co_filename)
    if known is None:
        known = _ours[code.co_filename] = is_ours(code)
    return bool(known)


def frames(origin: Origin) -> list[Frame]:
    """A recorded stack as readable frames, innermost first."""
    return [Frame(code.co_filename, _line(code, at), code.co_name) for code, at in origin]


def _line(code: CodeType, offset: int) -> int:
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return line
    return code.co_firstlineno
