"""What code reads that is traced without being converted: the `call` of Keras' layers, `autograph=False`.

Such code reports nothing. When it makes a node, its frame is on the stack: its bytecode names the globals
and the attributes of its parameters that it loads. Those that are numbers, texts, None or bool are
noted as reads of the trace, also of a branch that did not run. Code of libraries is left out, and so is
what the code writes itself, and the variables of closures.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from intaglio.autograph import libraries, reads
from intaglio.autograph.access_paths import ATTRIBUTE, GLOBAL
from intaglio.autograph.read_values import is_plain
from intaglio.autograph.reads import Recorder
from intaglio.base import origins
from intaglio.ir.graph import Node

# The module that converted code calls, by the name that it has there.
_CONVERTED = "ag__"
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_NO_CODE = ("CACHE", "EXTENDED_ARG", "PRECALL", "RESUME", "NOP")
_NOTHING = object()


class _Load(NamedTuple):
    """A parameter or a global that code loads, the attributes that it takes of it, the offsets of all."""

    is_global: bool
    name: str
    attributes: tuple[str, ...]
    offsets: tuple[int, ...]


@functools.lru_cache(maxsize=1024)
def _loads(code: CodeType) -> tuple[_Load, ...]:
    """What the code loads, without names and attributes that it writes."""
    steps = [i for i in dis.get_instructions(code) if i.opname not in _NO_CODE]
    written = {_last(i) for i in steps if i.opname.startswith(("STORE_", "DELETE_"))}
    parameters = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return tuple(
        load
        for load in _chains(steps)
        if not written & {load.name, *load.attributes}
        and (load.is_global or (load.name in parameters and load.attributes))
    )


def _chains(steps: Sequence[dis.Instruction]) -> Iterator[_Load]:
    for at, step in enumerate(steps):
        is_global = step.opname == "LOAD_GLOBAL"
        if not is_global and not step.opname.startswith("LOAD_FAST"):
            continue
        rest = steps[at + 1 :]
        taken = list(itertools.takewhile(lambda i: i.opname in _ATTRIBUTES, rest))
        names = tuple([_last(i) for i in taken])
        yield _Load(is_global, _last(step), names, (step.offset, *[i.offset for i in taken]))


def _last(step: dis.Instruction) -> str:
    """The name that an instruction is about; the last one of those for two names at once."""
    return step.argval[-1] if isinstance(step.argval, tuple) else str(step.argval)


def observer() -> Callable[[Node], None] | None:
    """A function to be called with each new node; None outside of traces that note reads."""
    recorder = reads.current()
    if recorder is None:
        return None
    outside = sys._getframe(1)
    # Both by the code's id, which is faster than its hash. What needs no second look at the stack,
    # whatever its parameters are, is done.
    loads_of: dict[int, tuple[CodeType, tuple[_Load, ...]]] = {}
    done: set[int] = set()
    seen: set[tuple[int, int]] = set()

    def observe(node: Node) -> None:
        if node.origin and id(node.origin[0][0]) in done:
            return
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame is not outside:
            code = frame.f_code
            if not origins.is_ours_by_name(code):
                if id(code) in done:
                    return
                if id(code) not in loads_of:
                    loads_of[id(code)] = code, _loads(code) if _is_unconverted(frame) else ()
                loads = loads_of[id(code)][1]
                if all([load.is_global for load in loads]):
                    done.add(id(code))
                else:
                    first = frame.f_locals.get(code.co_varnames[0])
                    ident = id(code), id(first)
                    if ident in seen:
                        return
                    seen.add(ident)
                for load in loads:
                    _note(recorder, frame, load)
            frame = frame.f_back

    return observe


def _is_unconverted(frame: FrameType) -> bool:
    """True for the user's code that no conversion has gone through."""
    code = frame.f_code
    if _CONVERTED in code.co_names or _CONVERTED in code.co_freevars:
        return False
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    standard = package in sys.stdlib_module_names and package != "__main__"
    return not standard and libraries.library_of(frame.f_globals) is None


def _note(recorder: Recorder, frame: FrameType, load: _Load) -> None:
    """Notes what the code loads, if it is a plain value that is stored where it is found."""
    found = (frame.f_globals if load.is_global else frame.f_locals).get(load.name, _NOTHING)
    chain: list[tuple[Any, str, str, Any]] = []
    if load.is_global:
        chain.append((frame.f_globals, GLOBAL, load.name, found))
    for name in load.attributes:
        owner, found = found, _stored(found, name)
        chain.append((owner, ATTRIBUTE, name, found))
    if found is _NOTHING or not is_plain(found):
        return
    for (owner, kind, name, value), offset in zip(chain, load.offsets[-len(chain) :], strict=True):
        origin = functools.partial(_origin, frame.f_code, offset)
        recorder.note(owner, kind, name, value, origin)


def _stored(owner: Any, name: str) -> Any:
    """An attribute that is kept in the object or, a plain one, in its class; else `_NOTHING`."""
    if owner is _NOTHING or is_plain(owner):
        return _NOTHING
    found = getattr(owner, "__dict__", {}).get(name, _NOTHING)
    if found is _NOTHING:
        found = inspect.getattr_static(owner, name, _NOTHING)
        if not is_plain(found):
            return _NOTHING
    return found if reads.is_stored(owner, name, found) else _NOTHING


def _origin(code: CodeType, offset: int) -> origins.Origin:
    return ((code, offset),)


__all__ = ["observer"]
