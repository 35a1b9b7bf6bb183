"""Variables, and ops that are stateful for other reasons than an effect."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from intaglio.base.dtypes import DType
from intaglio.opdef import late, raw
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable, known


@xla(raw.ReadVariableOp)
def _read(resource, evaluator) -> Any:
    return evaluator.state.read(resource.key)


@xla(raw._ReadVariablesOp)
def _read_all(resources, evaluator) -> Any:
    return [evaluator.state.read(r.key) for r in resources]


@xla(raw.AssignVariableOp)
def _assign(resource, value, evaluator) -> None:
    if not hasattr(resource, "key"):
        raise Untraceable("a resource that is no variable")
    evaluator.state.write(resource.key, jnp.asarray(value))


@xla(raw.NoOp, raw.Assert)
def _nothing() -> None:
    """XLA programs do not stop: an assertion is checked where the function runs without XLA."""


@xla(raw.CheckNumerics, raw.CheckNumericsV2)
def _unchecked(tensor) -> Any:
    return tensor


@xla(late.DeepCopy)
def _copied(x) -> Any:
    return x


@xla(raw.GuaranteeConst)
def _guaranteed(input) -> Any:
    return input


@xla(late.Empty)
def _empty(shape, dtype: DType) -> Any:
    return jnp.zeros(tuple(known(shape, "the shape")), dtype.numpy)


@xla(raw.FakeParam)
def _fake(node, evaluator) -> Any:
    value = node.outputs[0]
    if value.dims is None or not value.dtype.is_numpy_compatible:
        raise Untraceable("a branch without a value of known shape")
    return np.zeros([d or 0 for d in value.dims], value.dtype.numpy)
