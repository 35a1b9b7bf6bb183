"""Functions of the module of specs that sparse tensors call: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.sparse.spec import SparseTensorSpec


class SparseHooks(Hooks):
    """The calls of sparse tensors to the module of their specs."""

    spec_of: Callable[[Any], SparseTensorSpec]


HOOKS = SparseHooks()
