"""Access paths, by which values that a trace has read are evaluated again, and the reads themselves."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from intaglio.autograph.read_values import same, shown
from intaglio.base import origins
from intaglio.base.origins import Frame

# The kinds of paths, by their last step.
ROOT, GLOBAL, CELL, ATTRIBUTE, ITEM = "root", "global", "cell", "attribute", "item"
# What of the value at the end of a path is read.
VALUE, IS_NONE, CLASS, LENGTH, TRUTH, CONTENTS, ARRAY, HAS = (
    "value",
    "is_none",
    "class",
    "length",
    "truth",
    "contents",
    "array",
    "has",
)
# What is read of a container other than its elements.
SIZES: dict[str, Callable[[Any], Any]] = {LENGTH: len, TRUTH: bool}
_MISSING = object()

ITEMS = (list, tuple, dict)


def item_of(owner: Any, key: Any) -> Any:
    """An item of a container; a defaultdict creates none.

    Raises LookupError if there is none.
    """
    if isinstance(owner, dict):
        found = dict.get(owner, key, _MISSING)
        if found is _MISSING:
            raise KeyError(key)
        return found
    if isinstance(owner, list):
        return list.__getitem__(owner, key)
    return tuple.__getitem__(owner, key) if isinstance(owner, tuple) else owner[key]


class Presence:
    """A test whether a container has a key, or an object an attribute."""

    __slots__ = ("key", "kind", "present")

    def __init__(self, kind: str, key: Any, present: bool) -> None:
        self.kind = kind
        self.key = key
        self.present = present

    def of(self, owner: Any) -> bool:
        """The result of the test."""
        return hasattr(owner, self.key) if self.kind == ATTRIBUTE else self.key in owner

    def is_same(self, now: Any) -> bool:
        """True if the result of the test is unchanged."""
        return self.of(now) is self.present

    def name(self, owner: str) -> str:
        """The test as a program writes it: `'lr' in config`, `hasattr(self, 'scale')`."""
        if self.kind == ATTRIBUTE:
            return f"hasattr({owner}, {self.key!r})"
        return f"{self.key!r} in {owner}"


class AccessPath:
    """A path to a value: a variable, or an attribute or item of the value of another path."""

    __slots__ = ("key", "kind", "origin", "parent", "source")

    def __init__(
        self, kind: str, source: Any, key: Any, parent: AccessPath | None, origin: origins.Origin
    ) -> None:
        self.kind = kind
        # The dictionary of globals, the cell, or a reference to the root; None behind another path.
        self.source = source
        self.key = key
        self.parent = parent
        self.origin = origin

    def find(self) -> Any:
        """The current value. Raises LookupError, AttributeError or ValueError if there is none."""
        if self.kind == GLOBAL:
            return self.source[self.key]
        if self.kind == CELL:
            return self.source.cell_contents
        if self.kind == ROOT:
            found = self.source()
            if found is None:
                raise ReferenceError(self.name)
            return found
        assert self.parent is not None
        owner = self.parent.find()
        return getattr(owner, self.key) if self.kind == ATTRIBUTE else item_of(owner, self.key)

    @property
    def name(self) -> str:
        """The path as the user's program writes it: `self.k`, `config['lr']`."""
        if self.kind in (GLOBAL, CELL):
            return self.key
        if self.kind == ROOT:
            return type(self.source()).__name__
        text = _text_at(self.origin)
        written = self.key if self.kind == ATTRIBUTE else "]"
        if text and text.endswith(written) and text.isprintable():
            return text
        owner = "" if self.parent is None else self.parent.name
        return f"{owner}.{self.key}" if self.kind == ATTRIBUTE else f"{owner}[{self.key!r}]"


def _text_at(origin: origins.Origin) -> str:
    """The expression of the instruction that was executed."""
    if not origin:
        return ""
    code, offset = origin[0]
    line, last, start, end = next(
        (p for i, p in enumerate(code.co_positions()) if i == offset // 2), (None,) * 4
    )
    if line is None or None in (last, start, end) or line != last:
        return ""
    text = linecache.getline(code.co_filename, line)
    return text.encode()[start:end].decode(errors="replace")


class Read:
    """A read: the path, the aspect of its value that was read, the result, and the user's line."""

    __slots__ = ("aspect", "kept", "origin", "path")

    def __init__(self, path: AccessPath, aspect: str, kept: Any, origin: origins.Origin) -> None:
        self.path = path
        self.aspect = aspect
        self.kept = kept
        self.origin = origin

    @property
    def name(self) -> str:
        """The expression that was read, as in the user's program."""
        name = self.path.name
        if self.aspect == HAS:
            return self.kept.name(name)
        form = {LENGTH: "len({})", TRUTH: "bool({})", CLASS: "type({})"}.get(self.aspect, "{}")
        return form.format(name)

    @property
    def where(self) -> Frame | None:
        """The line that read it."""
        found = origins.frames(self.origin[:1])
        return found[0] if found else None

    @property
    def ident(self) -> tuple[str, str]:
        """Equal for reads through equally named paths on one line."""
        return self.name, str(self.where)

    def is_unchanged(self) -> bool:
        """True if the result is unchanged, or the owner was collected."""
        try:
            return self.is_same(self.path.find())
        except ReferenceError:
            return True
        except (LookupError, AttributeError, ValueError, TypeError):
            return False

    def is_same(self, now: Any) -> bool:
        """True if a new trace would read an equal result."""
        kept = self.kept
        if self.aspect == VALUE:
            return same(kept, now)
        if self.aspect == IS_NONE:
            return (now is None) is kept
        if self.aspect == CLASS:
            return type(now) is kept
        if self.aspect in SIZES:
            return SIZES[self.aspect](now) == kept
        return kept.is_same(now)

    @property
    def is_lost(self) -> bool:
        """True if the owner was collected, so that no call can depend on the read."""
        path = self.path
        while path.parent is not None:
            path = path.parent
        return path.kind == ROOT and path.source() is None

    def before(self) -> str:
        """The result of the read, as short text."""
        if self.aspect == IS_NONE:
            return "None" if self.kept else "not None"
        if self.aspect == ARRAY:
            return "other elements"
        if self.aspect == HAS:
            return str(self.kept.present)
        return shown(self.kept)

    def now(self) -> str:
        """The current result, as short text."""
        try:
            found = self.path.find()
        except (LookupError, AttributeError, ValueError, TypeError, ReferenceError):
            return "nothing"
        if self.aspect == IS_NONE:
            return "None" if found is None else "not None"
        if self.aspect in SIZES:
            return str(SIZES[self.aspect](found))
        if self.aspect == CLASS:
            return shown(type(found))
        if self.aspect == ARRAY:
            return "these elements"
        if self.aspect == HAS:
            return str(self.kept.of(found))
        return shown(found)

    def __str__(self) -> str:
        return f"{self.name} = {self.before()}{_at(self.where)}"

    __repr__ = __str__


def _at(where: Frame | None) -> str:
    return "" if where is None else f" (read at {where.short})"


__all__ = [
    "ARRAY", "ATTRIBUTE", "CELL", "CLASS", "CONTENTS", "GLOBAL", "HAS", "IS_NONE", "ITEM", "ITEMS", "LENGTH", "ROOT", "SIZES", "TRUTH",
    "VALUE", "AccessPath", "Presence", "Read", "item_of",
]  # fmt: skip
