"""What tests of TensorFlow 1's graphs call: `tf.compat.v1.test`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/test.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.compat_v1.resource_files import get_path_to_datafile
from intaglio.compat_v1.sessions import get_default_session


def get_temp_dir() -> str:
    """A folder for files of tests, which exists."""
    folder = os.environ.get("TEST_TMPDIR") or tempfile.gettempdir()
    os.makedirs(folder, exist_ok=True)
    return folder


def test_src_dir_path(relative_path: str) -> str:
    """A path relative to the file that calls."""
    return get_path_to_datafile(relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


def assert_equal_graph_def(
    actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Raises AssertionError if two GraphDefs have other nodes, in whatever order, and TypeError for others."""
    for name, graph in (("actual", actual), ("expected", expected)):
        if type(graph).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(graph).__name__}")
    own, other = ({n.name: n for n in graph.node} for graph in (actual, expected))
    for name in sorted(own.keys() | other.keys()):
        if name not in own or name not in other:
            side = "expected" if name in other else "actual"
            raise AssertionError(f"The node {name!r} is only in the {side} graph.")
        if own[name] != other[name]:
            raise AssertionError(f"Nodes differ:\n{own[name]}\n{other[name]}")


class StubOutForTesting:
    """Replaces attributes until the end of a block, of a test or of the object."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []
        self._smart: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *_: object) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:  # TensorFlow's name
        """Puts everything back."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:  # as above
        """Replaces an attribute, wherever it comes from. Raises AttributeError if there is none."""
        self._smart.append((obj, attr_name, getattr(obj, attr_name)))
        setattr(obj, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:  # as above
        """Puts back what `SmartSet` replaced."""
        while self._smart:
            setattr(*self._smart.pop())

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:  # as above
        """Replaces an attribute of an object."""
        self._before.append((parent, child_name, getattr(parent, child_name)))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:  # as above
        """Puts back what `Set` replaced."""
        while self._before:
            setattr(*self._before.pop())


def _pair(
    x: Any, x_shape: Any, y: Any, y_shape: Any, start: Any, delta: float, feeds: dict[Any, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """The Jacobian `[sizes of x, sizes of y]` by gradients, and by differences."""
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: use it in `with session:`.")
    kind = x.dtype.as_numpy_dtype
    value = np.random.default_rng(0).random(x_shape).astype(kind) if start is None else start
    value = np.array(value, kind)
    upstream = later.named("intaglio.tf:compat.v1.placeholder")(y.dtype, y_shape)
    (dx,) = later.named("intaglio.tf:compat.v1.gradients")([y], [x], grad_ys=[upstream])
    by_gradient = np.zeros([value.size, int(np.prod(y_shape))], kind)
    by_difference = np.zeros_like(by_gradient)
    for column in range(by_gradient.shape[1]):
        one = np.zeros(by_gradient.shape[1], y.dtype.as_numpy_dtype)
        one[column] = 1
        found = session.run(dx, {x: value, upstream: one.reshape(y_shape), **feeds})
        if hasattr(found, "indices"):
            dense = np.zeros(x_shape, kind)
            np.add.at(dense, found.indices, found.values)
            found = dense
        by_gradient[:, column] = np.ravel(found)
    for row in range(value.size):
        ends = []
        for sign in (1, -1):
            moved = value.copy()
            moved.flat[row] += sign * delta
            ends.append(np.ravel(session.run(y, {x: moved, **feeds})))
        by_difference[row] = (ends[0] - ends[1]) / (2 * delta)
    return by_gradient, by_difference


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> Any:
    """The Jacobian `[size of x, size of y]` by gradients, and by differences, in the default session.

    For lists of `x` a list of pairs. Raises ValueError without a default session.
    """
    session = get_default_session()
    if session is not None and init_targets is not None:
        session.run([getattr(t, "initializer", t) for t in init_targets])
    several = isinstance(x, list)
    inputs = x if several else [x]
    shapes = x_shape if several else [x_shape]
    starts = x_init_value if several and x_init_value is not None else [x_init_value] * len(inputs)
    feeds = dict(extra_feed_dict or {})
    pairs = [
        _pair(one, shape, y, y_shape, start, delta, feeds)
        for one, shape, start in zip(inputs, shapes, starts, strict=True)
    ]
    return pairs if several else pairs[0]


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> float:
    """The largest difference of the two Jacobians of `compute_gradient`."""
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = found if isinstance(found, list) else [found]
    return max(float(np.abs(a - b).max()) if a.size else 0.0 for a, b in pairs)
