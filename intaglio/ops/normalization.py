"""Sums of squares and normalisation over batches and neighbouring channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING
from intaglio.op import raw
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec


@op
class L2Loss(Op):
    """sum(t ** 2) / 2."""

    signature = "t: T -> output: T"
    T = FLOATING

    def infer(self, t: Spec) -> Spec:
        return Spec(t.dtype, ())

    def kernel(self, t):
        wide = (t.astype(np.float32) if t.dtype.itemsize == 2 else t).reshape(-1)
        return np.asarray(wide.dot(wide) / 2).astype(t.dtype)

    def gradient(self, t, doutput) -> Any:
        return raw.Mul(t, doutput)
