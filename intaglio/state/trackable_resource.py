"""Parts of saved models besides variables: resources that a function creates, and files.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/experimental/TrackableResource
and https://www.tensorflow.org/api_docs/python/tf/saved_model/Asset.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor
from intaglio.state.tracking import AutoTrackable, Trackable
from intaglio.trace.scopes import init_scope


class TrackableResource(AutoTrackable):
    """A base class of resources that a loaded model can create again.

    A subclass creates the resource in `_create_resource` (which returns the handle), fills it in
    `_initialize`, and releases it in `_destroy_resource`. The first two
    are recorded when a model is saved, and executed when it is loaded or served. Functions use
    the resource by `resource_handle`, which is created on first access.

    https://www.tensorflow.org/api_docs/python/tf/saved_model/experimental/TrackableResource

    >>> class Pair(tf.saved_model.experimental.TrackableResource):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self._initialize()
    ...     def _create_resource(self):
    ...         return tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2])
    ...     def _initialize(self):
    ...         tf.raw_ops.AssignVariableOp(resource=self.resource_handle, value=[1.0, 2.0])
    ...     def _destroy_resource(self):
    ...         tf.raw_ops.DestroyResourceOp(resource=self.resource_handle)
    >>> tf.raw_ops.ReadVariableOp(resource=Pair().resource_handle, dtype=tf.float32).numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, device: str = "") -> None:
        self._resource_handle: Any = None
        self._resource_device = device

    def _create_resource(self) -> Any:
        """Creates the resource; returns its handle."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> Any:
        """Initializes the resource."""
        raise NotImplementedError("TrackableResource._initialize not implemented.")

    def _destroy_resource(self) -> Any:
        """Releases the resource."""

    @property
    def is_created(self) -> bool:
        """Whether the resource exists: from its first use, unless its loaded creator cannot run here."""
        return self._resource_handle is not None

    @property
    def resource_handle(self) -> Any:
        """The handle of the resource: a scalar tensor of dtype resource."""
        if self._resource_handle is None:
            with init_scope():
                self._resource_handle = self._create_resource()
        return self._resource_handle


class _Path(EagerTensor):
    """The path of an asset, which functions capture, as it depends on the model's folder."""

    __slots__ = ()


class Asset(Trackable):
    """A file that belongs to a model: saving copies it into the model's folder.

    Functions that read the file use `asset_path`, a scalar string; in a loaded model it is the
    path of the copy.

    https://www.tensorflow.org/api_docs/python/tf/saved_model/Asset

    >>> tf.saved_model.Asset("words.txt").asset_path.numpy()
    b'words.txt'
    """

    def __init__(self, path: Any) -> None:
        if isinstance(path, Asset):
            path = path.asset_path
        name = path.numpy() if isinstance(path, Tensor) else path
        self._path = os.fsencode(name)
        self._tensor = _Path()
        self._tensor._array = np.array(self._path, object)

    @property
    def asset_path(self) -> Tensor:
        """The file's path."""
        return self._tensor

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return self._tensor

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}
