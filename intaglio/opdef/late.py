"""References to ops whose families may not be imported yet: `late.ResizeArea`.

A table that names an op by `raw` imports the op's family, by `late` only checks that the
catalogue has such an op.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.opdef import raw

if TYPE_CHECKING:
    from intaglio.opdef.op import Op


class OpReference:
    """An op of the catalogue, by name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def op(self) -> Op:
        """The op; its family is imported."""
        return getattr(raw, self.name)

    def is_op(self, op: Op) -> bool:
        """True if the reference is to this op."""
        return op.name == self.name

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def __getattr__(name: str) -> OpReference:
    if not raw.is_declared(name):
        raise AttributeError(f"no op named {name!r}; docs/coverage.md lists those that exist")
    return OpReference(name)
