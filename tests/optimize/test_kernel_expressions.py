"""Kernels as expressions in other ops: equal to the kernels, for the samples of all ops that have one."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base import nest
from intaglio.base.dtypes import from_numpy
from intaglio.base.errors import InvalidArgumentError
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter
from intaglio.optimize.kernel_expressions import by_kernel, may_be_expressed
from intaglio.runtime import interpreter
from tests.ops import calls
from trust import catalogue

# So many samples of an op are compared; integers of so few elements are constants, as shapes are.
SAMPLES, MAX_CONSTANT = 3, 8


def is_constant(array: Any) -> bool:
    return array.dtype.kind in "iu" and array.size <= MAX_CONSTANT and array.ndim <= 1


def call_of(sample: Any, *tensors: Any) -> Any:
    """The sample's op for tensors in the place of its inputs that are no constants."""
    left = list(tensors)
    inputs = calls.inputs_of(sample)
    given = nest.map_structure(lambda a: a if is_constant(a) else left.pop(0), inputs)
    return calls.flat(calls.CATALOGUE[sample.op](**given, **calls.attrs_of(sample)))


def expressed(function: Any, arrays: list[Any]) -> tuple[Any, Any, int]:
    """The graph of a function, the same with its kernels as expressions, and how many these are."""
    specs = [tf.TensorSpec(a.shape, a.dtype) for a in arrays]
    graph = tf.function(function, autograph=False).get_concrete_function(*specs).frozen
    new, count = Rewriter(graph), 0
    for node in graph.nodes:
        current = new.copy(node)
        found = by_kernel(new, current) if may_be_expressed(current) else None
        if found is None:
            new.keep(node, current)
        else:
            count += 1
            new.replace(node, found)
    return graph, prune(new.result()), count


def outcome(graph: Any, arrays: list[Any]) -> Any:
    try:
        return interpreter.run_graph(graph, arrays)
    except InvalidArgumentError as e:
        return e


def assert_alike(found: Any, expected: Any, what: str) -> None:
    if isinstance(expected, Exception) or isinstance(found, Exception):
        assert isinstance(expected, Exception), f"{what}: {found}"
        assert isinstance(found, Exception), f"{what} does not raise {expected}"
        return
    for own, theirs in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
        assert (own.dtype, own.shape) == (theirs.dtype, theirs.shape), what
        if own.dtype.kind in "OSU":
            continue
        if not (from_numpy(own.dtype).is_floating or own.dtype.kind == "c"):
            np.testing.assert_array_equal(own, theirs, what)
            continue
        size = own.dtype.itemsize // (2 if own.dtype.kind == "c" else 1)
        own, theirs = own.astype(np.complex128), theirs.astype(np.complex128)
        finite = np.isfinite(theirs)
        np.testing.assert_array_equal(np.isfinite(own), finite, what)
        largest = np.abs(theirs[finite]).max(initial=0.0)
        tolerance = {1: 0.2, 2: 2e-2, 4: 2e-5, 8: 1e-9}[size]
        np.testing.assert_allclose(
            own[finite], theirs[finite], rtol=0, atol=tolerance * largest, err_msg=what
        )


@pytest.mark.parametrize(
    ("name", "samples"), catalogue.pure(), ids=[n for n, _ in catalogue.pure()]
)
def test_samples(name: str, samples: list[Any]) -> None:
    for sample in samples[:SAMPLES]:
        inputs = calls.inputs_of(sample)
        arrays = [a for a in nest.flatten(inputs) if not is_constant(a)]

        try:
            graph, new, count = expressed(functools.partial(call_of, sample), arrays)
        except (ValueError, TypeError):  # an input has to be a constant
            continue
        if count:
            assert_alike(outcome(new, arrays), outcome(graph, arrays), repr(sample))


def test_errors_are_assertions() -> None:
    """A kernel that raises for some data is an expression that refuses these."""

    def f(x: Any, size: Any) -> Any:
        return tf.raw_ops.HistogramFixedWidth(values=x, value_range=tf.stack([size, 1.0]), nbins=4)

    arrays = [np.float32([0.1, 0.6, 0.9]), np.float32(0.0)]
    graph, new, count = expressed(f, arrays)
    assert count
    assert_alike(outcome(new, arrays), outcome(graph, arrays), "in range")
    assert "_Refusal" in [n.op.name for n in new.nodes]
    wrong = [arrays[0], np.float32(2.0)]
    assert isinstance(outcome(new, wrong), InvalidArgumentError)
    assert isinstance(outcome(graph, wrong), InvalidArgumentError)


@pytest.mark.parametrize("seed", range(6))
def test_as_many_elements_as_the_data_says(seed: int) -> None:
    """There is a branch for each number of elements."""
    rng = np.random.default_rng(seed)

    def f(x: Any, mask: Any) -> Any:
        return [
            tf.unique(x),
            tf.where(mask),
            tf.boolean_mask(x, mask),
            tf.raw_ops.ListDiff(x=x, y=tf.constant([1, 5])),
            tf.math.bincount(tf.abs(x) % 4),
            tf.range(tf.reduce_max(x % 3)),
        ]

    x, mask = rng.integers(-6, 6, 6).astype(np.int32), rng.random(6) < seed / 5
    graph, new, count = expressed(f, [x, mask])
    assert count >= 5
    assert_alike(outcome(new, [x, mask]), outcome(graph, [x, mask]), str((x, mask)))


def test_random_numbers_are_no_constants() -> None:
    """A kernel that draws from NumPy's generator is another in each run."""
    image = np.ones((1, 3, 3, 1), np.float32)
    _, new, _ = expressed(
        lambda x: tf.raw_ops.ExtractGlimpse(input=x, size=[5, 5], offsets=[[0.0, 0.0]]), [image]
    )
    assert "ExtractGlimpse" in [n.op.name for n in new.nodes]
