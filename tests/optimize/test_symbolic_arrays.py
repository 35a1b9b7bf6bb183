"""NumPy code on symbolic arrays: nodes that compute what it computes, views and changes included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter
from intaglio.opdef import door
from intaglio.optimize.kernel_expressions import by_kernel, may_be_expressed
from intaglio.optimize.symbolic_arrays import NotSymbolic, SymbolicArray, tensor_of
from intaglio.runtime import interpreter

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
INDEX = np.array([2, 0, 0])


def as_graph(f: Any, array: Any) -> Any:
    """What a NumPy function of an array gives as a graph of that array."""
    spec = tf.TensorSpec(array.shape, array.dtype)
    graph = tf.function(lambda x: x).get_concrete_function(spec).frozen
    new = Rewriter(graph)
    for node in graph.nodes:
        new.keep(node)
    with door.pushed(new):
        result = tensor_of(f(SymbolicArray(graph.inputs[0])))
    return prune(new.result([result]))


def views(x: Any) -> Any:
    """Changes show in views, and changes of views in what they are of."""
    a = np.zeros_like(x)
    part, turned = a[1:, ::2], a.T
    part[...] = x[1:, ::2] * 2
    a[0] = 7.0
    turned[3, 0] = x[0, 0]
    np.add(part, 1, out=part)
    return np.concatenate([a, turned.reshape(3, 4)]) + np.sum(part)


def copies(x: Any) -> Any:
    a = x.copy()
    taken = a[INDEX]
    a[:] = 0
    return taken + a


def masked(x: Any) -> Any:
    result = np.full_like(x, -1.0, shape=(2, 4))
    np.copyto(result, x[:2], where=x[:2] > 0)
    return result


def next_numbers(x: Any) -> Any:
    """Upwards and downwards, of zeros of both signs, equal ones, infinities and NaN."""
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1e-45, 3e38], np.float32)
    a = np.concatenate([x.reshape(-1)[:8], special, special, special])
    b = np.concatenate([special, x.reshape(-1)[4:], special, special[::-1]])
    return np.nextafter(a, b)


def logarithms_of_sums(x: Any) -> Any:
    special = np.array([np.inf, -np.inf, np.nan, 5.0], np.float32)
    return np.logaddexp(np.concatenate([x, special[None]]), special[:, None])


def transforms(x: Any) -> Any:
    z = np.fft.rfftn(x, s=(5, 3), axes=(1, 0))
    back = np.fft.irfftn(np.fft.ifftn(np.fft.fftn(z, axes=(0,)), axes=(0,)), s=(5, 3), axes=(1, 0))
    return np.concatenate([z.real.reshape(-1), z.imag.reshape(-1), back.reshape(-1)])


def pseudo_inverses(x: Any) -> Any:
    deficient = np.stack([x, np.stack([x[0], x[0], x[1]])])
    return np.linalg.pinv(deficient, rcond=1e-5)


FUNCTIONS = {
    "next numbers": next_numbers,
    "logarithms of sums": logarithms_of_sums,
    "transforms": transforms,
    "pseudo-inverses": pseudo_inverses,
    "inverses": lambda x: np.linalg.inv(x[:, :3]),
    "solutions": lambda x: np.linalg.solve(x[:, :3], x),
    "finite": lambda x: np.nan_to_num(np.where(x > 0.5, np.float32(np.nan), x / (x > 0))),
    "along": lambda x: np.take_along_axis(np.stack([x, -x]), INDEX[None, None], axis=2),
    "views": views,
    "copies": copies,
    "masked": masked,
    "arithmetic": lambda x: np.where(x > 0, np.sqrt(np.abs(x)), -x) / 3 + np.fmax(x, 0.5) ** 2,
    "integers": lambda x: (x > 0).sum(axis=0) + np.trunc(x * 9).astype(np.int64)[0],
    "booleans": lambda x: (~(x > 0) & (x < 1)).any(axis=1, keepdims=True),
    "moves": lambda x: np.roll(np.tile(np.flip(x, 0), (2, 1)), 1, 1)[::-1].swapaxes(0, 1),
    "padding": lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=5),
    "reflection": lambda x: np.pad(x, 1, mode="reflect"),
    "joined": lambda x: np.stack([x, np.ones((3, 4), np.float32), x[::-1]], axis=1),
    "parts": lambda x: np.add.reduceat(x, np.array([0, 2, 3]), axis=1),
    "greatest": lambda x: x.max(axis=0, initial=0.25) - np.clip(x, -0.5, 0.5).min(),
    "counts": lambda x: np.bincount(INDEX, x[:, 0], minlength=5),
    "running": lambda x: np.cumsum(x, axis=1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_numpy(name: str) -> None:
    function = FUNCTIONS[name]
    (found,) = interpreter.compiled(as_graph(function, X))(X)
    with np.errstate(all="ignore"):  # infinities and NaN are among the numbers
        expected = np.asarray(function(X))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[x[:, 0] > 0],
        lambda x: x + 1 if x.any() else x,
        lambda x: np.linalg.eigvals(x[:, :3]),
        lambda x: [float(x[0, 0])],
        np.asarray,
        np.spacing,
    ],
)
def test_what_needs_elements_is_refused(function: Any) -> None:
    with pytest.raises((NotSymbolic, TypeError)):
        as_graph(function, X)


def expression_of(f: Any, array: Any) -> Any:
    """The graph of a function whose last op is replaced by what its kernel is in other ops."""
    spec = tf.TensorSpec(array.shape, array.dtype)
    graph = tf.function(f, autograph=False).get_concrete_function(spec).frozen
    new = Rewriter(graph)
    for node in graph.nodes:
        current = new.copy(node)
        is_last = node is graph.nodes[-1] and may_be_expressed(current)
        found = by_kernel(new, current) if is_last else None
        if found is None:
            new.keep(node, current)
        else:
            new.replace(node, found)
    return graph, prune(new.result())


IMAGES = np.random.default_rng(1).uniform(size=(1, 4, 5, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("function", "array"),
    [
        (lambda x: tf.raw_ops.HSVToRGB(images=x), IMAGES),
        (lambda x: tf.raw_ops.MaxPool3D(
            input=x, ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="SAME"), IMAGES[..., None]),
        (lambda x: tf.raw_ops.LRN(input=x), IMAGES),
        (lambda x: tf.raw_ops.SparseSegmentSqrtNGrad(
            grad=x, indices=[0, 1, 0], segment_ids=[0, 0, 1], output_dim0=4), X),
    ],
)  # fmt: skip
def test_kernels(function: Any, array: Any) -> None:
    graph, new = expression_of(function, array)
    assert graph.nodes[-1].op not in [n.op for n in new.nodes]
    (found,), (expected,) = [interpreter.compiled(g)(array) for g in (new, graph)]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_draws_are_not_constants() -> None:
    """A kernel whose seed is another in each call is none of its results."""
    graph, new = expression_of(
        lambda x: tf.raw_ops.FractionalMaxPool(value=x, pooling_ratio=[1.0, 1.4, 1.4, 1.0])[0],
        IMAGES,
    )
    assert graph.nodes[1].op in [n.op for n in new.nodes]
