"""Functions of the module of specs that ragged tensors call: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.ragged.spec import RaggedTensorSpec


class RaggedHooks(Hooks):
    """The calls of ragged tensors to the module of their specs."""

    spec_of: Callable[[Any], RaggedTensorSpec]


HOOKS = RaggedHooks()
