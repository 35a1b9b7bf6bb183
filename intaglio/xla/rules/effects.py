"""Variables, and ops that are stateful for other reasons than an effect."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from intaglio.base.dtypes import DType
from intaglio.opdef import late, raw
from intaglio.opdef.op import RAISES
from intaglio.ops.random import algorithm, generator, philox
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable, is_traced, known


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


@xla(raw.NoOp)
def _nothing() -> None:
    pass


@xla(raw.Assert, checks=True)
def _assert(condition, data, summarize: int, node, evaluator) -> None:
    if evaluator.state.checks is not None:
        exact = summarize < 0 or RAISES in node.attrs
        shown = [v if exact else _first_elements(v, summarize + 1) for v in data]
        evaluator.state.checks.add(evaluator.state, node, condition, [condition, *shown])


def _first_elements(value: Any, count: int) -> Any:
    """What of the data of an assertion its message has, with one element more where there are more."""
    return value[(slice(count),) * value.ndim] if is_traced(value) else value


@xla(raw.CheckNumerics, raw.CheckNumericsV2, checks=True)
def _finite(tensor, node, evaluator) -> Any:
    if evaluator.state.checks is not None:
        x = jnp.asarray(tensor)
        tests = (jnp.isnan(x), x == np.inf, x == -np.inf)
        found = jnp.stack([jnp.any(test) for test in tests])
        numbers = np.array([np.nan, np.inf, -np.inf], x.dtype)
        faults = jnp.where(found, numbers, np.zeros((), x.dtype))
        evaluator.state.checks.add(evaluator.state, node, jnp.logical_not(jnp.any(found)), [faults])
    return tensor


@xla(late.RngReadAndSkip)
def _read_and_skip(resource, alg, delta, evaluator) -> Any:
    """The state of a generator: two words of a counter, then a key. It advances by `delta` numbers."""
    before = evaluator.state.read(resource.key)
    if before.ndim != 1 or before.shape[0] < generator.STATE_SIZE:
        raise Untraceable("a state that is no vector of at least three integers")
    algorithms = (algorithm.Algorithm.PHILOX.value, algorithm.Algorithm.AUTO_SELECT.value)
    if int(known(alg, "the algorithm")) not in algorithms:
        raise Untraceable("an algorithm of random numbers other than Philox")
    words = jnp.asarray(before).astype(jnp.uint64)
    blocks = jnp.asarray(delta).astype(jnp.uint64)
    low = words[0] + blocks * np.uint64(philox.RESERVED)
    carry = (low < words[0]).astype(jnp.uint64)
    # The product has 72 bits: RESERVED is 2**8.
    high = words[1] + (blocks >> np.uint64(64 - philox.RESERVED.bit_length() + 1)) + carry
    after = jnp.stack([low, high]).astype(before.dtype)
    evaluator.state.write(resource.key, jnp.concatenate([after, before[2:]]))
    return before


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
