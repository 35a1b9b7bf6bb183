"""Random changes of protocol buffers that keep them well-formed: fields, elements, map entries."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from intaglio.graphdef.proto_fields import is_repeated
from trust.fuzzing import mutation

# The chance to change a message itself rather than one inside it.
STOP = 0.2


class Mutator:
    """Changes messages with parts and texts of others of the same family."""

    def __init__(self, seeds: Iterable[Any]) -> None:
        self._parts: dict[str, list[bytes]] = defaultdict(list)
        texts: dict[str, None] = {}
        for seed in seeds:
            for part in walked(seed):
                kept = self._parts[part.DESCRIPTOR.full_name]
                if len(kept) < 200:
                    kept.append(part.SerializeToString(deterministic=True))
                for field, value in part.ListFields():
                    if field.type == field.TYPE_STRING and not is_map(field):
                        texts.update(dict.fromkeys(value if repeated(field) else [value]))
        self._texts = tuple(sorted(texts))[:2000]

    def changed(self, rng: random.Random, message: Any, rounds: int = 0) -> None:
        """Changes a message in place, a few times."""
        for _ in range(rounds or 1 + rng.randrange(3)):
            self._change(rng, self._inside(rng, message))

    def _inside(self, rng: random.Random, message: Any) -> Any:
        while rng.random() > STOP:
            below = [
                (field, value)
                for field, value in message.ListFields()
                if field.message_type is not None and not scalar_map(field)
            ]
            if not below:
                break
            field, value = rng.choice(below)
            if is_map(field):
                if not value:
                    break
                message = value[rng.choice(sorted(value))]
            elif repeated(field):
                message = rng.choice(value)
            else:
                message = value
        return message

    def _change(self, rng: random.Random, message: Any) -> None:
        present = [field for field, _ in message.ListFields()]
        fields = present if present and rng.random() < 0.75 else list(message.DESCRIPTOR.fields)
        if not fields:
            return
        field = rng.choice(fields)
        if rng.random() < 0.1:
            message.ClearField(field.name)
        elif is_map(field):
            self._change_map(rng, getattr(message, field.name), field)
        elif repeated(field):
            self._change_list(rng, getattr(message, field.name), field)
        elif field.message_type is not None:
            self._copy_part(rng, getattr(message, field.name))
        else:
            value = self._scalar(rng, field, getattr(message, field.name))
            setattr(message, field.name, value)

    def _copy_part(self, rng: random.Random, target: Any) -> None:
        parts = self._parts.get(target.DESCRIPTOR.full_name)
        if parts:
            target.ParseFromString(rng.choice(parts))
        else:
            target.SetInParent()

    def _change_map(self, rng: random.Random, entries: Any, field: Any) -> None:
        keys = sorted(entries)
        value = field.message_type.fields_by_name["value"]
        key = rng.choice(keys) if keys else self._key(rng, field)
        if rng.random() < 0.25 and keys:
            del entries[key]
            return
        target = self._key(rng, field) if rng.random() < 0.3 else key
        if value.message_type is not None:
            self._copy_part(rng, entries[target])
        else:
            entries[target] = self._scalar(rng, value, entries.get(key, value.default_value))

    def _key(self, rng: random.Random, field: Any) -> Any:
        return self._scalar(rng, field.message_type.fields_by_name["key"], "")

    def _change_list(self, rng: random.Random, items: Any, field: Any) -> None:
        kind = rng.randrange(5)
        at = rng.randrange(len(items)) if len(items) else 0
        if kind == 0 and len(items):
            del items[at]
        elif kind == 1 and len(items) > 1:
            del items[at:]
        elif field.message_type is not None:
            self._copy_part(rng, items.add() if kind == 2 or not len(items) else items[at])
        elif kind == 2 or not len(items):
            value = items[at] if len(items) else self._scalar(rng, field, None)
            for _ in range(rng.choice((1, 1, 3, 40))):
                items.append(value)
        else:
            items[at] = self._scalar(rng, field, items[at])

    def _scalar(self, rng: random.Random, field: Any, value: Any) -> Any:
        if field.type == field.TYPE_STRING:
            return mutation.text(rng, value or "", self._texts).replace("\ud800", "")
        if field.type == field.TYPE_BYTES:
            return mutation.octets(rng, value or b"")
        if field.type == field.TYPE_BOOL:
            return not value
        if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
            return mutation.number(rng, value or 0.0)
        if field.type == field.TYPE_ENUM:
            return rng.choice([*[v.number for v in field.enum_type.values], 0, 99])
        return _wrapped(field, mutation.integer(rng, value or 0))


def _wrapped(field: Any, value: int) -> int:
    """The number in the range of the field."""
    bits = 64 if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else 32
    value %= 1 << bits
    signed = field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_INT32)
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def repeated(field: Any) -> bool:
    """True for a field with several values."""
    return is_repeated(field)


def is_map(field: Any) -> bool:
    """True for a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def scalar_map(field: Any) -> bool:
    """True for a map to values that are no messages."""
    return is_map(field) and field.message_type.fields_by_name["value"].message_type is None


def walked(message: Any) -> Iterator[Any]:
    """A message and all inside it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None or scalar_map(field):
            continue
        if is_map(field):
            parts = [value[key] for key in sorted(value)]
        else:
            parts = list(value) if repeated(field) else [value]
        for part in parts:
            yield from walked(part)
