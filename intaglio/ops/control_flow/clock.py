"""The time of day."""

from __future__ import annotations

import time

import numpy as np

from intaglio.base.dtypes import float64
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


@op
class Timestamp(Op):
    """Seconds since the beginning of 1970, when the op runs."""

    signature = "-> ts: float64"
    differentiable = False
    stateful = True
    reaches_outside = "clock"

    def infer(self) -> Spec:
        return Spec(float64, ())

    def kernel(self):
        return np.asarray(time.time())
