"""Type variables that have a default: what arrays of other types are converted to.

Shapes, axes and counts come from NumPy in any type. For most of their type variables
TensorFlow declares a default, and takes arrays, and lists of tensors, as the default if it
may not have them as they are. Where there is none (indices of a gather), it refuses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base.dtypes import DType, int32, int64

if TYPE_CHECKING:
    from intaglio.opdef.op import Op

# An op may have a variable without one: its trait `without_default`.
_DEFAULTS: dict[str, DType] = {
    "TI": int64,
    "Tblock_shape": int32,
    "Tcrops": int32,
    "Tdim": int32,
    "Tidx": int32,
    "Tk": int32,
    "Tmultiples": int32,
    "Tnumsegments": int32,
    "Tpaddings": int32,
    "Tperm": int32,
    "Tsegmentids": int32,
    "Tseed": int64,
    "Tshape": int32,
    "index_type": int32,
    "shape_dtype": int32,
}


def default(op: Op, var: str | None) -> DType | None:
    """The default of a type variable of an op's inputs, or None."""
    return None if var is None or var in op.without_default else _DEFAULTS.get(var)
