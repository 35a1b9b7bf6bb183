"""What other packages use of sparse tensors, with all public functions ready for them.

Importing this module registers the dispatch targets of public functions (`handlers`).
"""

from __future__ import annotations

from intaglio.sparse import handlers
from intaglio.sparse.spec import SparseTensorSpec
from intaglio.sparse.tensor import SparseTensor, SparseTensorValue, all_sparse, as_sparse, is_sparse

handlers.register()

__all__ = [
    "SparseTensor",
    "SparseTensorSpec",
    "SparseTensorValue",
    "all_sparse",
    "as_sparse",
    "is_sparse",
]
