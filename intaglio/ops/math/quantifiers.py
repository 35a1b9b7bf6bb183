"""Whether all, or any, of the truth values along axes hold."""

from __future__ import annotations

import numpy as np

from intaglio.base.dtypes import INDEX, bool_
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.math.exact_reduction import exact_reduce
from intaglio.ops.math.reduction import axes_of, reduced


class Quantifier(Op):
    """output = input reduced over the axes, of truth values."""

    graphdef_names = {"axis": "reduction_indices"}
    signature = "input: bool, axis: Tidx; keep_dims: bool = False -> output: bool"
    differentiable = False
    Tidx = INDEX
    native_exact = True

    def infer(self, input: Spec, axis: Spec, keep_dims: bool) -> Spec:
        return Spec(bool_, reduced(input.shape, axis, keep_dims))


@op
class All(Quantifier):
    """True where all are."""

    reduces = "all"

    def kernel(self, input, axis, keep_dims):
        axes = axes_of(axis, input.ndim)
        return exact_reduce(np.logical_and, input, axes, keep_dims, np.bool_)


@op
class Any(Quantifier):
    """True where at least one is."""

    reduces = "any"

    def kernel(self, input, axis, keep_dims):
        axes = axes_of(axis, input.ndim)
        return exact_reduce(np.logical_or, input, axes, keep_dims, np.bool_)
