"""The catalogue: every op by its TensorFlow name. `raw.AddV2(x, y)` calls the op.

Ops are looked up when they are called, so that op files never import one another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intaglio.op.op import Op

CATALOGUE: dict[str, Op] = {}


def register(op: Op) -> None:
    """Adds an op. Raises ValueError if its name is taken."""
    if op.name in CATALOGUE:
        raise ValueError(f"there is an op named {op.name} already")
    CATALOGUE[op.name] = op
    globals()[op.name] = op


def __getattr__(name: str) -> Op:
    raise AttributeError(
        f"no op named {name!r}; docs/coverage.md lists those that exist"
    )
