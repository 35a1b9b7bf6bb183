"""`tf.test.compute_gradient`: gradients beside finite differences.

Follows https://www.tensorflow.org/api_docs/python/tf/test/compute_gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.autodiff.gradient_tape import GradientTape
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices


def compute_gradient(
    f: Callable[..., Any], x: Any, delta: float | None = None
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The Jacobian of `f` for each argument, by its gradients and by finite differences.

    Args:
      f: a function of tensors that returns one tensor.
      x: a list of arguments, floats or complex numbers.
      delta: the width of the differences; by default as fits the dtype.

    Returns:
      (theoretical, numerical), tuples of matrices [elements of f(x), elements of x[i]];
      a complex number takes two rows or columns.

    Raises ValueError unless `x` is a list.

    >>> ours, numbers = tf.test.compute_gradient(tf.square, [[3.0]])
    >>> ours[0].tolist()
    [[6.0]]
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to "
            f"`f`), not a {type(x)}"
        )
    inputs = [convert.to_tensor(v) for v in x]
    pairs = [_both(f, inputs, i, delta) for i in range(len(inputs))]
    return tuple([a for a, _ in pairs]), tuple([b for _, b in pairs])


def _both(
    f: Callable[..., Any], inputs: list[Any], index: int, delta: float | None
) -> tuple[np.ndarray, np.ndarray]:
    here = inputs[index]
    if delta is None:
        delta = 1.0 / (1 << {2: 5, 4: 10, 8: 20}[here.dtype.real_dtype.size])
    return _by_tape(f, inputs, index), _by_differences(f, inputs, index, delta)


def _real(values: Any) -> Any:
    """Numbers as a flat vector, complex ones as two each; a view where there can be one."""
    flat: Any = np.ascontiguousarray(values).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _by_tape(f: Callable[..., Any], inputs: list[Any], index: int) -> np.ndarray:
    here = inputs[index]
    with GradientTape(persistent=True) as tape:
        tape.watch(here)
        y = f(*inputs)
    rows: list[np.ndarray] = []
    shape, kind = tuple(y.dims), y.dtype.numpy
    for k in range(_real(np.zeros(shape, kind)).size):
        seed = np.zeros(shape, kind)
        _real(seed)[k] = 1
        found = tape.gradient(y, here, output_gradients=convert.to_tensor(seed))
        if found is None:
            row = np.zeros(tuple(here.dims), here.dtype.numpy)
        elif isinstance(found, IndexedSlices):
            row = convert.to_tensor(found).numpy()
        else:
            row = found.numpy()
        rows.append(_real(row))
    width = _real(here.numpy()).size
    return np.array(rows).reshape(-1, width)


def _by_differences(
    f: Callable[..., Any], inputs: list[Any], index: int, delta: float
) -> np.ndarray:
    base: Any = np.array(inputs[index].numpy())
    columns: list[np.ndarray] = []
    for k in range(_real(base).size):
        ends: list[np.ndarray] = []
        for sign in (1, -1):
            shifted = base.copy()
            _real(shifted)[k] += sign * delta
            shifted_inputs = [*inputs]
            shifted_inputs[index] = raw.Identity(convert.to_tensor(shifted))
            ends.append(_real(f(*shifted_inputs).numpy()))
        columns.append((ends[0] - ends[1]) / (2 * delta))
    return np.array(columns).T.astype(base.real.dtype)


__all__ = ["compute_gradient"]
