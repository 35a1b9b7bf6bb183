"""Classes of libraries that SavedModels name, so that loading makes objects of these classes again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Setter = Callable[[Any, str, Any], None]


class VersionedTypeRegistration:
    """How objects of a class are made again; `object_factory` is called with the SavedUserObject message."""

    def __init__(
        self,
        object_factory: Callable[[Any], Any],
        version: int,
        min_producer_version: int,
        min_consumer_version: int,
        bad_consumers: Any = None,
        setter: Setter = setattr,
    ) -> None:
        self.identifier: str | None = None
        self.setter = setter
        self.object_factory = object_factory
        self.version = version
        self.min_producer_version = min_producer_version
        self.min_consumer_version = min_consumer_version
        self.bad_consumers = bad_consumers or []

    def reads(self, version: Any) -> bool:
        """True if objects written by this version can be made."""
        return (
            self.version >= version.min_consumer
            and version.producer >= self.min_producer_version
            and self.version not in version.bad_consumers
        )


_KINDS: dict[str, tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]] = {}


def register_revived_type(
    identifier: str, predicate: Callable[[Any], bool], versions: list[VersionedTypeRegistration]
) -> None:
    """Says how objects that `predicate` holds for are made again.

    Raises AssertionError if the identifier has been registered.
    """
    if identifier in _KINDS:
        raise AssertionError(f"Duplicate registrations for type '{identifier}'")
    for one in versions:
        one.identifier = identifier
    newest_first = sorted(versions, key=lambda one: one.version, reverse=True)
    _KINDS[identifier] = (predicate, newest_first)


def registered_identifiers() -> list[str]:
    """What `register_revived_type` was called with."""
    return list(_KINDS)


def get_setter(proto: Any) -> Setter | None:
    """How the parts of an object are set that was saved as `proto` says; None if it has no registered class."""
    found = _reading(proto)
    return found.setter if found is not None else None


def fill(proto: Any, value: Any) -> bool:
    """Writes the identifier and version of the object's class; False if it has none."""
    for identifier, (predicate, versions) in _KINDS.items():
        if predicate(value):
            newest = versions[0]
            proto.identifier = identifier
            proto.version.producer = newest.version
            proto.version.min_consumer = newest.min_consumer_version
            proto.version.bad_consumers.extend(newest.bad_consumers)
            return True
    return False


def created(proto: Any) -> tuple[Any, Setter] | None:
    """An object of the class that was saved, and what sets its parts; None if it has no registered class."""
    found = _reading(proto)
    return (found.object_factory(proto), found.setter) if found is not None else None


def _reading(proto: Any) -> VersionedTypeRegistration | None:
    versions = _KINDS.get(proto.identifier, (None, []))[1]
    return next((one for one in versions if one.reads(proto.version)), None)
