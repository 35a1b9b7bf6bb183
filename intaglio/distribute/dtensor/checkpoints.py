"""Checkpoints of tensors with layouts: each is written whole, and restored with the layout that it has.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dtensor/DTensorCheckpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.distribute.dtensor.layouts import Mesh
from intaglio.distribute.dtensor.placing import copy_to_mesh, fetch_layout
from intaglio.opdef import convert
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.saved_model import bundle
from intaglio.saved_model.checkpoint import Checkpoint
from intaglio.state.variable import Variable


class DTensorCheckpoint(Checkpoint):
    """`tf.train.Checkpoint`, which saves and restores variables with layouts itself."""

    def __init__(self, mesh: Mesh, root: Any = None, **kwargs: Any) -> None:
        super().__init__(root, **kwargs)
        self._mesh = mesh


def _whole(value: Any) -> np.ndarray:
    """The whole tensor on the host."""
    if isinstance(value, Variable):
        return value._saved_value()
    tensor: Any = convert.to_tensor(value)
    return np.asarray(tensor._array)


def name_based_save(
    mesh: Mesh, checkpoint_prefix: Any, name_tensor_dict: Mapping[str, Any]
) -> None:
    """Writes tensors and variables by name. Raises ValueError if there are none.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> dtensor.name_based_save(mesh, folder + "/a", {"x": dtensor.copy_to_mesh([1, 2], layout)})
    >>> tf.train.list_variables(folder + "/a")
    [('x', [2])]
    """
    if not name_tensor_dict:
        raise ValueError("name_tensor_dict is empty: there is nothing to save.")
    bundle.write(_path(checkpoint_prefix), {k: _whole(v) for k, v in name_tensor_dict.items()})


def name_based_restore(
    mesh: Mesh, checkpoint_prefix: Any, name_tensor_dict: Mapping[str, Any]
) -> dict[str, Any]:
    """The tensors of these names, with the layouts of the given ones; variables are assigned.

    Raises NotFoundError for a name that was not saved, ValueError for another shape.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> x = dtensor.copy_to_mesh([1, 2], layout)
    >>> dtensor.name_based_save(mesh, folder + "/a", {"x": x})
    >>> dtensor.name_based_restore(mesh, folder + "/a", {"x": x})["x"].numpy()
    array([1, 2], dtype=int32)
    """
    saved = bundle.Bundle(_path(checkpoint_prefix))
    found: dict[str, Any] = {}
    for name, example in name_tensor_dict.items():
        if name not in saved:
            raise errors.NotFoundError(
                None, None, f"Key {name} not found in checkpoint {_path(checkpoint_prefix)}"
            )
        array = saved.array(name)
        if array.shape != tuple(example.shape):
            raise ValueError(
                f"{name} has shape {list(array.shape)} in the checkpoint, and {example.shape} here."
            )
        value = copy_to_mesh(from_array(array), fetch_layout(example))
        if isinstance(example, Variable):
            example.assign(value)
        found[name] = value
    return found


def sharded_save(
    mesh: Mesh, file_prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: Sequence[Any]
) -> None:
    """Writes tensors by their names, each whole; `shape_and_slices` are empty strings.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> dtensor.sharded_save(mesh, folder + "/a", ["x"], [""], [tf.constant([1, 2])])
    >>> tf.train.list_variables(folder + "/a")
    [('x', [2])]
    """
    names = [_plain(n) for n in _listed(tensor_names)]
    if any([_plain(s) for s in _listed(shape_and_slices)]):
        raise NotImplementedError("sharded_save writes whole tensors: give empty shape_and_slices.")
    bundle.write(_path(file_prefix), {n: _whole(t) for n, t in zip(names, tensors, strict=True)})


def _listed(texts: Any) -> Sequence[Any]:
    return texts.numpy().tolist() if isinstance(texts, EagerTensor) else texts


def _plain(text: Any) -> str:
    return text.decode() if isinstance(text, bytes) else str(text)


def _path(prefix: Any) -> str:
    value = prefix.numpy() if isinstance(prefix, EagerTensor) else prefix
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0]
    return _plain(value)


__all__ = ["DTensorCheckpoint", "name_based_restore", "name_based_save", "sharded_save"]
