"""Origins: the lines of the user's program that created an object."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# The owner of a file's code. The package's own is falsy, so that a walk of the stack has a single test.
_OURS, _USERS, _RUNNER = 0, 1, 2


# Keyed by file name, as code objects are slow to hash.
_owners: dict[str, int] = {}


def _owner(filename: str) -> int:
    owner = _owners.get(filename)
    if owner is None:
        is_own = filename.startswith((PACKAGE, "<intaglio"))
        owner = _owners[filename] = _OURS if is_own else _USERS
    return owner


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
    """A frame of this thread that encloses running code, with the memoized origin of its callers."""

    innermost: tuple[FrameType | None, Origin] = None, ()


_enclosing = _Enclosing()


class enclosing:
    """A context of this package around code that captures many origins, such as a trace.

    The frames of the context and of its callers do not change while it lasts: they are walked once.
    """

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = _enclosing.innermost
        _enclosing.innermost = sys._getframe(1), capture(2)

    def __exit__(self, *error: object) -> None:
        _enclosing.innermost = self._before


class nearer:
    """A context within `enclosing`: only frames of this package are between the two.

    Walks of the stack end at its frame, which is nearer to where origins are captured.
    """

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = end, callers = _enclosing.innermost
        if end is not None:
            _enclosing.innermost = sys._getframe(1), callers

    def __exit__(self, *error: object) -> None:
        _enclosing.innermost = self._before


def capture(skip: int = 1, most: int = MAX_FRAMES) -> Origin:
    """The innermost frames of the caller that are not this package's own."""
    try:
        frame = sys._getframe(skip)
    except ValueError:
        return ()
    found: list[tuple[CodeType, int]] = []
    owners = _owners
    end, callers = _enclosing.innermost if most <= MAX_FRAMES else (None, ())
    while frame is not None:
        code = frame.f_code
        try:
            owner = owners[code.co_filename]
        except KeyError:
            owner = _owner(code.co_filename)
        if not owner:
            if frame is end:
                found += callers[: most - len(found)]
                break
        elif owner == _USERS:
            found.append((code, frame.f_lasti))
            if len(found) == most:
                break
        else:
            while found and found[-1][0].co_filename == _RUNPY:
                found.pop()
            break
        frame = frame.f_back
    return tuple(found)


_RUNPY = "<frozen runpy>"


def runs_programs(filename: str) -> None:
    """Lets origins end at frames of this file, whose callers are not part of the user's program."""
    _owners[filename] = _RUNNER


_EMPTY = compile("", "", "exec")


def at(filename: str, lineno: int, function: str) -> Origin:
    """An origin of a line given by file name and number, as in a graph parsed from text."""
    code = _EMPTY.replace(
        co_filename=filename, co_firstlineno=lineno, co_name=function, co_linetable=b""
    )
    return ((code, 0),)


def is_ours(code: CodeType) -> bool:
    """True for code of this package and for code that it generates."""
    return _owner(code.co_filename) != _USERS


def users_frames(frame: FrameType | None, end: FrameType | None) -> Iterator[FrameType]:
    """The frames that are not this package's own, from one up to another of its callers without it."""
    owners = _owners
    while frame is not end and frame is not None:
        name = frame.f_code.co_filename
        if (name not in owners or owners[name]) and _owner(name) == _USERS:
            yield frame
        frame = frame.f_back


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


def frames(origin: Origin) -> list[Frame]:
    """A recorded stack as readable frames, innermost first."""
    return [Frame(code.co_filename, _line(code, at), code.co_name) for code, at in origin]


def _line(code: CodeType, offset: int) -> int:
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return line
    return code.co_firstlineno
