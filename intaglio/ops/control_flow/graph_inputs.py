"""Where a graph's values come from: placeholders and constants."""

from __future__ import annotations

from intaglio.base.dtypes import DType
from intaglio.base.errors import ShapeError
from intaglio.base.shapes import Dims
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


@op
class Placeholder(Op):
    """An input of the graph."""

    signature = "; dtype: type, shape: shape = None -> output: dtype"
    native_exact = True
    free = True
    reported = False
    carries_strings = True
    numerics_checked = False

    def infer(self, dtype: DType, shape: Dims) -> Spec:
        return Spec(dtype, shape)


@op
class Const(Op):
    """A constant."""

    signature = "; value: tensor, dtype: type -> output: dtype"
    native_exact = True
    free = True
    reported = False
    carries_strings = True
    numerics_checked = False

    def infer(self, value, dtype: DType) -> Spec:
        if value.dtype != dtype.numpy:
            raise ShapeError(f"A constant of dtype {dtype.name} has a value of {value.dtype}")
        return Spec(dtype, value.shape, value)

    def kernel(self, value):
        return value
