"""The saved functions by which a loaded model creates and fills its resources."""

from __future__ import annotations

import os
from typing import Any

from intaglio.base.dtypes import string
from intaglio.base.errors import UnsupportedFileError
from intaglio.function.options import Options
from intaglio.function.polymorphic import Function
from intaglio.opdef import raw
from intaglio.runtime.lookup_tables import LookupTable
from intaglio.state.trackable_resource import Asset, TrackableResource
from intaglio.type_specs.type_spec import TensorSpec

CREATE, FILL, DESTROY = "_create_resource", "_initialize", "_destroy_resource"


def functions_of(resource: Any) -> dict[str, Function]:
    """Functions without arguments that create, fill and release a resource."""
    if isinstance(resource, RestoredResource):
        return {
            name: vars(resource)[name] for name in (CREATE, FILL, DESTROY) if name in vars(resource)
        }

    def creator() -> Any:
        return resource._create_resource()

    def initializer() -> Any:
        resource._initialize()
        return 1  # a result, so that callers can wait for it

    def destroyer() -> Any:
        resource._destroy_resource()
        return 1

    options = Options(input_signature=(), autograph=False)
    return {
        name: Function(body, body.__name__, options)
        for name, body in ((CREATE, creator), (FILL, initializer), (DESTROY, destroyer))
    }


def table_functions(table: Any) -> tuple[Function, Function]:
    """How checkpoints of a table that changes are written and read, as functions."""
    behind: LookupTable = table.resource_handle._array
    types = (behind.key_dtype, behind.spec.dtype)

    def save_fn(checkpoint_key: Any) -> Any:
        keys, values = raw.LookupTableExportV2(
            table.resource_handle, Tkeys=types[0], Tvalues=types[1]
        )
        return [
            {"name": checkpoint_key + part, "slice_spec": "", "tensor": tensor}
            for part, tensor in (("-keys", keys), ("-values", values))
        ]

    def restore_fn(restored_tensors_0: Any, restored_tensors_1: Any) -> Any:
        # The table is new then. TensorFlow's dense tables import nothing but their own buckets.
        raw.LookupTableInsertV2(table.resource_handle, restored_tensors_0, restored_tensors_1)
        return 1

    specs = [TensorSpec(None, dtype, f"restored_tensors_{i}") for i, dtype in enumerate(types)]
    key = [TensorSpec((), string, "checkpoint_key")]
    return (
        Function(save_fn, "save_fn", Options(input_signature=key, autograph=False)),
        Function(restore_fn, "restore_fn", Options(input_signature=specs, autograph=False)),
    )


class RestoredResource(TrackableResource):
    """A resource of a loaded model, created by the function that was saved with it."""

    def _create_resource(self) -> Any:
        raise UnsupportedFileError(
            "the SavedModel has a resource whose function to make it is missing or cannot run"
        )

    def _initialize(self) -> Any:
        return None


class Assets:
    """The files of a model that is saved, by the names that their copies get."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # name of the copy by path

    def name(self, asset: Asset) -> str:
        """The name of an asset's copy: its own, with a number if another file has it."""
        path = os.fsdecode(asset._path)
        if path not in self.names:
            base, n = os.path.basename(path), 1
            found = base
            while found in self.names.values():
                found, n = f"{base}_{n}", n + 1
            self.names[path] = found
        return self.names[path]


def is_resource(value: Any) -> bool:
    """True for what is saved as a resource."""
    return isinstance(value, TrackableResource) and value.resource_handle is not None
