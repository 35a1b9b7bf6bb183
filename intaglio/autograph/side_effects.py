"""Side effects of converted code while it is traced, which happen once and not at each call.

Assignments to attributes, items and variables that outlive the trace, changes of containers, output,
files, the clock and Python's random numbers: each is noted with its line. Counters can be
advanced at each call instead.
"""

from __future__ import annotations

import io
import os
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from intaglio.base import origins
from intaglio.base.origins import Frame

MODES = ("record", "error", "replay")


class SideEffectError(RuntimeError):
    """A traced function has a side effect, under `effects("error")`."""


class SideEffect(NamedTuple):
    """A side effect: its kind, and the user's line.

    The kinds are `"attribute"`, `"item"`, `"variable"`, `"container"`, `"print"`, `"files"`, `"log"`,
    `"random"`, `"clock"` and `"iterator"`.
    """

    kind: str
    where: Frame

    def __str__(self) -> str:
        result = _RESULTS.get(self.kind, "ran once, when the function was traced, not at each call")
        return f"{self.where.short}: {self.where.source}: {result}"


_ONE_VALUE = "gave one value, when the function was traced, which all calls use"
_RESULTS = {"random": _ONE_VALUE, "clock": _ONE_VALUE, "iterator": _ONE_VALUE}
_INSTEAD = {
    "print": "Write tf.print.",
    "random": "Write tf.random.uniform or a tf.random.Generator.",
    "clock": "Write tf.timestamp.",
    "iterator": "Iterate over a tf.data.Dataset.",
    "container": "Write to a tf.TensorArray or return the values.",
    "files": "Write tf.io.write_file, or tf.py_function around it.",
    "log": "Write tf.print, or tf.py_function around it.",
}
_STATE = "Keep it in a tf.Variable, or return the new value."


class Counter:
    """A number that the trace adds to, and that each call can add to."""

    __slots__ = ("amount", "find", "is_attribute", "key")

    def __init__(self, owner: Any, key: Any, is_attribute: bool, amount: Any) -> None:
        try:
            self.find: Callable[[], Any] = weakref.ref(owner)
        except TypeError:  # a dictionary or list
            self.find = lambda: owner
        self.key, self.is_attribute, self.amount = key, is_attribute, amount

    def advance(self) -> None:
        """Adds what the trace has added."""
        owner = self.find()
        if owner is None:
            return
        if self.is_attribute:
            setattr(owner, self.key, getattr(owner, self.key) + self.amount)
        else:
            owner[self.key] += self.amount


class Policy:
    """The policy for side effects of traces."""

    def __init__(self) -> None:
        mode = os.environ.get("INTAGLIO_EFFECTS", "record")
        self.mode = checked(mode)


def checked(mode: str) -> str:
    """The mode. Raises ValueError if there is no such one."""
    if mode not in MODES:
        raise ValueError(f"effects takes {', '.join(map(repr, MODES))}, not {mode!r}")
    return mode


POLICY = Policy()


class Effects:
    """The side effects of one trace, in order, each line once."""

    def __init__(self) -> None:
        # By code, instruction and kind: which line that is, is worked out when it is asked for.
        self._found: dict[tuple[int, int, str], origins.Origin] = {}
        self.counters: dict[tuple[int, Any], Counter] = {}

    @property
    def keep_values(self) -> bool:
        """Whether any of the effects may store a value of the trace, as all but printing do."""
        return any(kind != "print" for _, _, kind in self._found)

    @property
    def found(self) -> list[SideEffect]:
        """The effects."""
        by_line: dict[tuple[Any, ...], SideEffect] = {}
        for (_, _, kind), origin in self._found.items():
            where = origins.frames(origin)[0]
            by_line.setdefault((where.filename, where.lineno, kind), SideEffect(kind, where))
        return list(by_line.values())

    def __bool__(self) -> bool:
        return bool(self._found)

    def note(self, kind: str) -> None:
        """Notes an effect of the line that is executed. Raises SideEffectError if none is allowed."""
        origin = origins.capture(3, 1)
        if not origin:
            return
        code, offset = origin[0]
        self._found.setdefault((id(code), offset, kind), origin)
        if POLICY.mode == "error":
            effect = SideEffect(kind, origins.frames(origin)[0])
            raise SideEffectError(f"{effect}. {_INSTEAD.get(kind, _STATE)}")

    def count(self, owner: Any, key: Any, is_attribute: bool, before: Any, now: Any) -> None:
        """Notes that a number was replaced by a sum with it, or another one."""
        if type(before) in (int, float) and type(now) in (int, float):
            known = self.counters.get((id(owner), key))
            amount = now - before + (0 if known is None else known.amount)
            self.counters[id(owner), key] = Counter(owner, key, is_attribute, amount)


# What functions do that are not the user's, by their modules.
_BY_MODULE = {
    "time": "clock",
    "datetime": "clock",
    "random": "random",
    "secrets": "random",
    "uuid": "random",
    "numpy.random": "random",
    "logging": "log",
    "warnings": "log",
    "io": "files",
    "_io": "files",
    "os": "files",
    "posix": "files",
    "nt": "files",
    "shutil": "files",
    "pathlib": "files",
    "subprocess": "files",
}
_BUILT_IN: dict[Any, str] = {print: "print", input: "files", open: "files", next: "iterator"}
# Functions of these modules that only read, or whose effect is none of these.
_HARMLESS = frozenset(
    {"seed", "getstate", "default_rng", "getenv", "getcwd", "fspath", "getLogger", "getEffectiveLevel", "isEnabledFor", "getpid", "cpu_count", "timedelta",
     "sleep", "exists", "join"}
)  # fmt: skip


_of_modules: dict[str, str | None] = {}


def _of_module(module: str) -> str | None:
    """The kind of side effect of a module's functions, or None."""
    if module not in _of_modules:
        found = _BY_MODULE.get(module) or _BY_MODULE.get(module.rpartition(".")[0])
        _of_modules[module] = found
    return _of_modules[module]


def kind_of_call(function: Any, args: tuple[Any, ...]) -> str | None:
    """The kind of side effect of a call of library code, or None."""
    if type(function) is types.FunctionType:
        found = _of_module(function.__module__ or "")
        return None if found is None or function.__name__ in _HARMLESS else found
    if isinstance(function, types.BuiltinFunctionType):
        kind = _BUILT_IN.get(function)
        if kind == "iterator":
            return kind if args and not isinstance(args[0], io.IOBase) else None
        if kind is not None:
            return kind
    if isinstance(function, type) and issubclass(function, (io.StringIO, io.BytesIO)):
        return None
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (io.StringIO, io.BytesIO)):
        return None
    found = _of_module(_module_of(function, owner))
    return None if found is None or getattr(function, "__name__", "") in _HARMLESS else found


def _module_of(function: Any, owner: Any) -> str:
    if owner is None or isinstance(owner, types.ModuleType):
        return getattr(function, "__module__", None) or ""
    kind = owner if isinstance(owner, type) else type(owner)
    return kind.__module__ or ""
