"""Sets and dictionaries by identity: `tensorflow.python.util.object_identity`."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any

from intaglio.tensorflow_name.framework import Reference


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are compared by identity; they need not be hashable."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items: dict[int, tuple[Any, Any]] = {}
        self.update(dict(*args, **kwargs) if not args or isinstance(args[0], dict) else args[0])

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._items[id(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[id(key)] = key, value

    def __delitem__(self, key: Any) -> None:
        del self._items[id(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._items.values()])

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"ObjectIdentityDictionary({list(self.items())!r})"


class ObjectIdentityWeakKeyDictionary(MutableMapping[Any, Any]):
    """As `ObjectIdentityDictionary`; an entry goes when its key does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self.update(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[id(key)][1]

    def __setitem__(self, key: Any, value: Any) -> None:
        number, items = id(key), self._items
        items[number] = weakref.ref(key, lambda _: items.pop(number, None)), value

    def __delitem__(self, key: Any) -> None:
        del self._items[id(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter([k for ref, _ in list(self._items.values()) if (k := ref()) is not None])

    def __len__(self) -> int:
        return len(self._items)


class ObjectIdentitySet(MutableSet[Any]):
    """A set whose elements are compared by identity, in the order of insertion."""

    _kind: type[MutableMapping[Any, Any]] = ObjectIdentityDictionary

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items: MutableMapping[Any, Any] = self._kind()
        for item in items:
            self.add(item)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: Any) -> None:
        """Adds an element."""
        self._items[value] = None

    def discard(self, value: Any) -> None:
        """Removes an element if it is there."""
        self._items.pop(value, None)

    def clear(self) -> None:
        """Removes all elements."""
        self._items.clear()

    def update(self, items: Iterable[Any]) -> None:
        """Adds elements."""
        for item in items:
            self.add(item)

    def union(self, items: Iterable[Any]) -> Any:
        """A set with these elements besides."""
        return type(self)([*self, *items])

    def intersection(self, items: Iterable[Any]) -> Any:
        """The elements that are in both."""
        other = type(self)(items)
        return type(self)([item for item in self if item in other])

    def difference(self, items: Iterable[Any]) -> Any:
        """The elements that are not among these."""
        other = type(self)(items)
        return type(self)([item for item in self if item not in other])

    def difference_update(self, items: Iterable[Any]) -> None:
        """Removes elements."""
        for item in list(items):
            self.discard(item)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """As `ObjectIdentitySet`; an element goes when nothing else holds it."""

    _kind = ObjectIdentityWeakKeyDictionary


__all__ = [
    "ObjectIdentityDictionary",
    "ObjectIdentitySet",
    "ObjectIdentityWeakKeyDictionary",
    "ObjectIdentityWeakSet",
    "Reference",
]
