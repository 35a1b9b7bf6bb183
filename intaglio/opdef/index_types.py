"""Default dtypes of type variables, to which arrays of other dtypes are converted.

NumPy's shapes, axes and counts have any integer dtype. For most of their type variables TensorFlow declares
a default, and converts arrays and lists of tensors of a dtype that is not allowed to it. Without a default
(as for the indices of a gather) it rejects them.
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
