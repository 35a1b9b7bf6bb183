"""`tensorflow.python.framework.c_api_util`: the declarations of the ops, as converters read them."""

from __future__ import annotations

from typing import Any

from intaglio.graphdef import export
from intaglio.opdef import raw


class ApiDefMap:
    """The ops by their names.

    The texts of the documentation that TensorFlow keeps here besides are not there.
    """

    def op_names(self) -> list[str]:
        """The names of all ops."""
        return list(raw.catalogue())

    def get_op_def(self, op_name: str) -> Any:
        """An op's declaration as an OpDef message. Raises ValueError if there is no such op."""
        op = raw.find(op_name)
        if op is None:
            raise ValueError(f"No op_def found for op name {op_name}.")
        return export.op_def(op)
