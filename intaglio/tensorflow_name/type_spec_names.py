"""`tensorflow.python.framework.type_spec_registry`: names of classes of type specs, TensorFlow's own among them."""

from __future__ import annotations

from typing import Any

from intaglio.base import later
from intaglio.type_specs import registry
from intaglio.type_specs.type_spec import TypeSpec

# The classes here of those that TensorFlow registers itself. Their messages have numbers in place of names.
OWN = {
    "tf.BoundedTensorSpec": "intaglio.type_specs.type_spec:BoundedTensorSpec",
    "tf.NoneTensorSpec": "intaglio.data.element:NoneTensorSpec",
    "tf.RaggedTensorSpec": "intaglio.ragged.spec:RaggedTensorSpec",
    "tf.RowPartitionSpec": "intaglio.ragged.partition:RowPartitionSpec",
    "tf.SparseTensorSpec": "intaglio.sparse.spec:SparseTensorSpec",
    "tf.TensorArraySpec": "intaglio.type_specs.tensor_array:TensorArraySpec",
    "tf.TensorSpec": "intaglio.type_specs.type_spec:TensorSpec",
}


def get_name(cls: Any) -> str:
    """The registered name of a class of type specs. Raises TypeError for another one, ValueError for none."""
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
    for name, target in OWN.items():
        if target == f"{cls.__module__}:{cls.__qualname__}":
            return name
    return registry.get_name(cls)


def lookup(name: str) -> Any:
    """The class of that name. Raises TypeError for what is no name, ValueError if there is none."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    return later.named(OWN[name]) if name in OWN else registry.lookup(name)
