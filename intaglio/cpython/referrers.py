"""The holders of an object: the objects that refer to it, found by CPython's garbage collector."""

from __future__ import annotations

import collections
import gc
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

# Maximum number of holders described, and of containers on the path to a name. For each of these the collector
# visits all objects of the process.
MAX_HOLDERS = 3
MAX_DEPTH = 5


class _Target(NamedTuple):
    """An object on the path: the searched object or a container of it, with the rest of the path."""

    object: Any
    rest: str


def holders(value: Any, package: str) -> list[str]:
    """How the program reaches an object: `history[0], a global of train.py`; at most `MAX_HOLDERS` texts.

    Frames and objects of the package whose files begin with `package` do not count. It takes some tens of
    milliseconds, more where there are millions of objects: for messages of errors.
    """
    found: list[str] = []
    targets = [_Target(value, "")]
    seen = {id(value)}
    for _ in range(MAX_DEPTH):
        search = _Level(targets, package, seen)
        found += search.found
        targets = search.further
        if len(found) >= MAX_HOLDERS or not targets:
            break
    # Holders with a name in the program come first.
    found.sort(key=lambda path: ", a global of " not in path)
    return list(dict.fromkeys(found))[:MAX_HOLDERS]


class _Level:
    """The search at one distance from the object: the holders found, and the containers for the next level."""

    def __init__(self, targets: Sequence[_Target], package: str, seen: set[int]) -> None:
        self.found: list[str] = []
        self.further: list[_Target] = []
        self._package = package
        objects = [t.object for t in targets]
        referrers = gc.get_referrers(*objects)
        own = {id(targets), id(objects), id(referrers), *map(id, targets)}
        self._rest = {id(t.object): t.rest for t in targets}
        for holder in referrers:
            if id(holder) not in own and id(holder) not in seen and not self._is_own(holder):
                self._look(holder, seen)

    def _is_own(self, holder: Any) -> bool:
        """True for frames and objects that do not belong to the user's program."""
        if isinstance(holder, types.FrameType):
            return self._is_file(holder.f_code.co_filename)
        module = str(getattr(type(holder), "__module__", ""))
        return module.partition(".")[0] == "intaglio" or isinstance(holder, types.TracebackType)

    def _is_file(self, name: str) -> bool:
        return name.startswith((self._package, "<intaglio"))

    def _matches(self, items: Iterator[tuple[Any, Any]]) -> Iterator[tuple[Any, str, Any]]:
        """The keys of targets among items, with the rest of the path and the target."""
        for key, item in items:
            rest = self._rest.get(id(item))
            if rest is not None:
                yield key, rest, item

    def _look(self, holder: Any, seen: set[int]) -> None:
        if isinstance(holder, dict):
            if "__name__" in holder and "__builtins__" in holder:
                self._look_in_module(holder)
                return
            steps = [f"[{k!r}]{r}" for k, r, _ in self._matches(iter([*holder.items()]))]
        elif isinstance(holder, types.FrameType):
            self._look_in_frame(holder)
            return
        elif isinstance(holder, types.CellType):
            steps = [r for _, r, _ in self._matches(iter([(0, holder.cell_contents)]))]
        elif isinstance(holder, (list, tuple, collections.deque)):
            elements = list(self._matches(enumerate(holder)))
            cells = [isinstance(item, types.CellType) for _, _, item in elements]
            steps = [
                f"{i}:{r}" if is_cell else f"[{i}]{r}"
                for (i, r, _), is_cell in zip(elements, cells, strict=True)
            ]
        elif isinstance(holder, (set, frozenset)):
            steps = [r for _, r, _ in self._matches(iter([(0, v) for v in holder]))]
        else:
            self._look_in_object(holder)
            return
        if steps:
            seen.add(id(holder))
            self.further.append(_Target(holder, steps[0]))

    def _look_in_module(self, space: dict[str, Any]) -> None:
        file = space.get("__file__") or ""
        if isinstance(file, str) and self._is_file(file):
            return
        where = _file(file) or space["__name__"]
        self.found += [
            f"{k}{r}, a global of {where}" for k, r, _ in self._matches(iter([*space.items()]))
        ]

    def _look_in_frame(self, frame: types.FrameType) -> None:
        where = f"line {frame.f_lineno} of {_file(frame.f_code.co_filename)}"
        for name, rest, _ in self._matches(iter([*frame.f_locals.items()])):
            self.found.append(f"{name}{rest}, a variable of {frame.f_code.co_name} at {where}")

    def _look_in_object(self, holder: Any) -> None:
        if isinstance(holder, types.FunctionType):
            rest = self._rest.get(id(holder.__closure__))
            code = holder.__code__
            if rest is not None and not self._is_file(code.co_filename):
                index, _, after = rest.partition(":")
                name = code.co_freevars[int(index)]
                where = f"{code.co_name} of {_file(code.co_filename)}"
                self.found.append(f"{name}{after}, a variable around {where}")
            return
        # The path to a class, or to an object, may lead over the dictionary of its attributes.
        space = getattr(holder, "__dict__", {})
        of_dict = self._rest.get(id(space))
        if of_dict is not None:
            self.found.append(f"{_object(holder)}.{_attribute(of_dict)}")
            return
        attributes = [*space.items(), *[(n, getattr(holder, n, None)) for n in _slots(holder)]]
        for name, rest, _ in self._matches(iter(attributes)):
            self.found.append(f"{_object(holder)}.{name}{rest}")
        if isinstance(holder, type):
            for rest in self._rest.values():
                name = _attribute(rest).partition("[")[0]
                if rest.startswith("['") and name in space:
                    self.found.append(f"{_object(holder)}.{_attribute(rest)}")


def _attribute(rest: str) -> str:
    """`['cache'][0]`, a path from the dictionary of an object, as a path from the object: `cache[0]`."""
    key, _, after = rest.partition("]")
    return f"{key.strip('[').strip(chr(39))}{after}"


def _slots(holder: Any) -> list[str]:
    names = [n for c in type(holder).__mro__ for n in getattr(c, "__slots__", ())]
    return [n for n in names if isinstance(n, str) and not n.startswith("__")]


def _object(holder: Any) -> str:
    if isinstance(holder, type):
        return f"the class {holder.__qualname__}"
    if isinstance(holder, types.ModuleType):
        return f"the module {holder.__name__}"
    main = vars(sys.modules["__main__"]) if "__main__" in sys.modules else {}
    names = [n for n, v in [*main.items()] if v is holder]
    kind = type(holder).__name__
    article = "an" if kind[:1].lower() in "aeiou" else "a"
    return names[0] if names else f"{article} {kind}"


def _file(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
