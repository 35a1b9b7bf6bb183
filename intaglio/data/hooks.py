"""Functions of later modules that specs and stages of datasets call: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.data.dataset import Dataset
    from intaglio.data.iterating import Iterator, Optional
    from intaglio.opdef.tensor import Tensor


class DataHooks(Hooks):
    """Calls from specs and stages of datasets to the classes of values."""

    dataset: type[Dataset]
    iterator: type[Iterator]
    optional: type[Optional]
    # The dataset behind a handle that came out of a graph: `(handle, element_spec)`.
    dataset_of_handle: Callable[[Tensor, Any], Dataset]


HOOKS = DataHooks()
