"""Objects of named fields that traced functions take by their contents, as they take lists."""

from __future__ import annotations

import dataclasses
from typing import Any

from intaglio.base.options import OPTIONS


def is_plain_data_class(kind: type) -> bool:
    """True for a data class whose instances are frozen, or have no hash to be compared by."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and (parameters.frozen or kind.__hash__ is None)


def fields_of(value: Any) -> list[str] | None:
    """The names of the fields of an attrs class, and of a data class if that is wanted; None for others.

    It is wanted under `OPTIONS.structural_objects`, of instances whose state is their fields.
    """
    kind = type(value)
    attrs = getattr(kind, "__attrs_attrs__", None)
    if attrs is not None:
        return [a.name for a in attrs]
    if not OPTIONS.structural_objects or not is_plain_data_class(kind):
        return None
    names = [f.name for f in dataclasses.fields(value)]
    own = getattr(value, "__dict__", {})
    complete = own.keys() <= set(names) and all([hasattr(value, n) for n in names])
    return names if complete else None
