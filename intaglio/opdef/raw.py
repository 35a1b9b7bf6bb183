"""The catalogue: every op by its TensorFlow name. `raw.AddV2(x, y)` calls the op.

Ops are looked up when they are called, so that op files never import one another, and a
family that few programs use is imported on the first use of one of its ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.opdef.op import Op

_declared: dict[str, Op] = {}
# The module that declares an op, for ops of families that are imported when needed.
_homes: dict[str, str] = {}


def register(op: Op) -> None:
    """Adds an op. Raises ValueError if its name is taken."""
    if op.name in _declared:
        raise ValueError(f"there is an op named {op.name} already")
    _declared[op.name] = op
    if (
        op.name not in _homes
    ):  # else the family is still being imported, and other threads wait for it
        globals()[op.name] = op


def withdraw(name: str) -> None:
    """Removes an op that a test or an example has declared."""
    del _declared[name]
    globals().pop(name, None)


def expect(package: str, families: Mapping[str, str]) -> None:
    """Declares the modules of `package` with the ops in them, as names separated by spaces."""
    for family, names in families.items():
        for name in names.split():
            _homes[name] = f"{package}.{family}"


def find(name: str) -> Op | None:
    """The op of this name, its family imported if it was not yet; None if there is none."""
    if name in _homes:
        later.named(_homes[name])
    return _declared.get(name)


def is_declared(name: str) -> bool:
    """True if there is an op of this name; does not import its family."""
    return name in _declared or name in _homes


def catalogue() -> dict[str, Op]:
    """Every op by name, with all families imported."""
    for home in {*_homes.values()}:
        later.named(home)
    return dict(sorted(_declared.items()))


def __getattr__(name: str) -> Op:
    op = find(name)
    if op is None:
        raise AttributeError(f"no op named {name!r}; docs/coverage.md lists those that exist")
    globals()[name] = op
    return op


def __dir__() -> list[str]:
    """The public ops; names that begin with _ are ops of the compiler."""
    return sorted(name for name in {*_declared, *_homes} if name[0] != "_")
