"""Calls of names of TensorFlow 1: `CALLS` by name, each a function of the name `tf`, run in a session.

    path/to/python-with-tensorflow -m tests.compat_v1.answers_of_names

writes what TensorFlow answers into `name_answers.json`, and the names of its `tf.compat.v1`.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np

FILE = pathlib.Path(__file__).with_name("name_answers.json")
CALLS: dict[str, Callable[[Any], Any]] = {}
# Modules that are no part of the API, and those of other issues: Keras 2, phones, compilers.
LEFT_OUT = (
    "keras",
    "layers",
    "estimator",
    "compat",
    "raw_ops",
    "mlir",
    "v2",
    "tf_decorator",
    "mock",
)


def call(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    CALLS[function.__name__] = function
    return function


SCORES = np.array([[0.1, 0.5, 0.2, 0.2], [0.6, 0.2, 0.1, 0.1], [0.2, 0.3, 0.1, 0.4]], np.float32)
LABELS = np.array([[1], [2], [3]])
TABLES = [np.array([[0.0, 1], [2, 3]], np.float32), np.array([[10, 11], [12, 13]], np.float32)]


def sparse(tf: Any, values: Any = (1, 3, 0), dtype: Any = np.int64) -> Any:
    values = np.array(values, dtype)
    return tf.sparse.SparseTensor([[0, 0], [0, 1], [2, 0]], values, [3, 2])


def _metric(tf: Any, name: str, *args: Any, **options: Any) -> Any:
    """The value after two batches, and the names of what there is."""
    tensors = [tf.constant(a) if isinstance(a, np.ndarray) else a for a in args]
    value, update = getattr(tf.compat.v1.metrics, name)(*tensors, **options)
    variables = tf.compat.v1.local_variables()
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.local_variables_initializer())
        session.run(update)
        return session.run([update, value]), value.name, update.name, len(variables)


for _name in ("precision_at_k", "recall_at_k", "average_precision_at_k"):

    def _dense(tf: Any, name: str = _name) -> Any:
        return _metric(tf, name, LABELS, SCORES, 2)

    def _of_rows(tf: Any, name: str = _name) -> Any:
        return _metric(tf, name, LABELS[:, 0], SCORES, 2, weights=[1.0, 0.5, 2.0])

    def _sparse(tf: Any, name: str = _name) -> Any:
        return _metric(tf, name, sparse(tf), SCORES, 2)

    for _form in (_dense, _of_rows, _sparse):
        CALLS[f"{_name}{_form.__name__}"] = _form


@call
def precision_of_a_class(tf: Any) -> Any:
    return _metric(tf, "precision_at_k", LABELS, SCORES, 2, class_id=1, weights=[1.0, 2.0, 3.0])


@call
def recall_of_a_class(tf: Any) -> Any:
    chosen = np.array([[1, 0], [0, 2], [1, 2]])
    return _metric(tf, "recall_at_top_k", LABELS, chosen, 2, class_id=2)


@call
def partitions(tf: Any) -> Any:
    v1, shape = tf.compat.v1, tf.TensorShape([10, 3])
    return [
        v1.fixed_size_partitioner(3)(shape, dtype=tf.float32),
        v1.fixed_size_partitioner(50, 1)(shape),
        v1.variable_axis_size_partitioner(40)(shape, tf.float32),
        v1.variable_axis_size_partitioner(40, 1, max_shards=2)(shape, tf.float64),
        v1.variable_axis_size_partitioner(40)(shape, tf.string),
        v1.min_max_variable_partitioner(8, 0, 16)(shape, tf.float32),
        v1.min_max_variable_partitioner(3, 1, 16)(shape, tf.float32),
    ]


@call
def partitioned(tf: Any) -> Any:
    v1 = tf.compat.v1
    with v1.variable_scope("s", partitioner=v1.fixed_size_partitioner(3)):
        whole = v1.get_variable("w", [7, 2], initializer=v1.ones_initializer())
        scalar = v1.get_variable("scalar", [], initializer=v1.zeros_initializer())
        first = v1.get_variable("first", initializer=tf.reshape(tf.range(8.0), [4, 2]))
    total = tf.reduce_sum(tf.convert_to_tensor(whole) * 2.0) + scalar
    (gradient, *_) = v1.gradients([total], list(whole))
    with v1.variable_scope("s", reuse=True):
        again = v1.get_variable("w", [7, 2]) is whole
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        before = session.run([total, gradient, tf.convert_to_tensor(first)])
        session.run(whole.assign(np.full([7, 2], 3, np.float32)))
        after = session.run(total)
    return (
        before,
        after,
        again,
        [v.name for v in v1.trainable_variables()],
        [*map(len, (whole, first))],
    )


@call
def created_in_parts(tf: Any) -> Any:
    v1 = tf.compat.v1
    ones = v1.ones_initializer()
    parts = v1.create_partitioned_variables([4, 6], [1, 3], ones, name="cp")
    return [(v.name, v.shape.as_list()) for v in parts]


@call
def lookups(tf: Any) -> Any:
    nn, ids = tf.compat.v1.nn, sparse(tf)
    weights = sparse(tf, (1.0, 2.0, 0.5), np.float32)
    return [
        nn.embedding_lookup_sparse(TABLES, ids, None, combiner="sum"),
        nn.embedding_lookup_sparse(TABLES, ids, weights, "div", combiner="mean"),
        nn.safe_embedding_lookup_sparse(TABLES, ids),
        nn.safe_embedding_lookup_sparse(TABLES, sparse(tf, (1, -1, 0)), weights, "sqrtn", 2),
        nn.safe_embedding_lookup_sparse(TABLES, ids, partition_strategy="mod"),
    ]


@call
def sparse_functions(tf: Any) -> Any:
    v1 = tf.compat.v1
    merged = v1.sparse_merge(sparse(tf), sparse(tf, (1.5, 2.5, 3.5), np.float32), 5)
    values = sparse(tf, (1.0, 5.0, 2.0), np.float32)
    found = [merged, v1.sparse_reduce_sum_sparse(values, 1), v1.sparse.reduce_max_sparse(values)]
    parts = [part for x in found for part in (x.indices, x.values, x.dense_shape)]
    return [*parts, v1.sparse.segment_sum(SCORES, [0, 1], [0, 0])]


@call
def blocks(tf: Any) -> Any:
    v1, x = tf.compat.v1, np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    there = v1.space_to_batch(x, [[0, 0], [0, 0]], 2)
    back = v1.batch_to_space(there, [[0, 0], [0, 1]], 2)
    return there, back, v1.nn.space_to_batch(x, [[0, 0], [0, 0]], block_shape=4)


@call
def images(tf: Any) -> Any:
    image, x = tf.compat.v1.image, np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    return [
        image.resize_image_with_pad(x, 6, 4),
        image.draw_bounding_boxes(np.repeat(x, 3, 3), [[[0.0, 0, 0.5, 0.5]]]),
        image.extract_glimpse(x, [2, 2], [[0.0, 0.0]]),
    ]


@call
def losses(tf: Any) -> Any:
    loss = tf.compat.v1.losses.mean_pairwise_squared_error
    a, b = [[1.0, 2, 3], [0, 1, 0]], [[1.0, 0, 3], [2, 1, 1]]
    return loss(a, b), loss(a, b, [[1.0], [0.5]]), loss(a, b, 0.0)


@call
def normalized(tf: Any) -> Any:
    norm = tf.compat.v1.nn.batch_norm_with_global_normalization
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    two = np.array([1, 2], np.float32)
    return norm(
        x, m=two, v=two, beta=two, gamma=two, variance_epsilon=0.1, scale_after_normalization=True
    )


@call
def seeds(tf: Any) -> Any:
    v1 = tf.compat.v1
    before = v1.get_seed(3), v1.get_seed(None)
    v1.set_random_seed(7)
    return before, v1.get_seed(3), v1.get_seed(None), v1.get_seed(None)


@call
def codes(tf: Any) -> Any:
    errors = tf.compat.v1.errors
    classes = [errors.exception_type_from_error_code(code) for code in range(1, 17)]
    return [cls.__name__ for cls in classes], [*map(errors.error_code_from_exception_type, classes)]


@call
def ragged(tf: Any) -> Any:
    v1 = tf.compat.v1
    value = v1.ragged.constant_value([[1, 2], [3]])
    empty = v1.ragged.placeholder(tf.float32, 1, [2])
    names = [empty.flat_values.name, empty.row_splits.name, v1.ragged.constant_value([1]).tolist()]
    return value.to_list(), value.row_splits.tolist(), *names


@call
def gradients_of_tests(tf: Any) -> Any:
    v1 = tf.compat.v1
    with v1.Session():
        x = tf.constant([1.0, 2.0])
        found = v1.test.compute_gradient(x, [2], x * x, [2], np.array([1.0, 2.0], np.float32))
        return found[0].tolist()


@call
def scaled(tf: Any) -> Any:
    values = tf.compat.v1.uniform_unit_scaling_initializer(seed=3)([40, 30])
    with tf.compat.v1.Session() as session:
        found = session.run(values)
    return found.shape, bool(abs(found).max() < (3 / 40) ** 0.5), bool(abs(found).max() > 0.27)


def answer(tf: Any, name: str) -> Any:
    """What a call returns in a graph, tensors as their values, as JSON has it."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:

        def plain(value: Any) -> Any:
            if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
                return [plain(v) for v in value]
            if tf.is_tensor(value):
                value = session.run(value)
            return np.asarray(value).tolist() if not isinstance(value, (str, type(None))) else value

        return plain(CALLS[name](tf))


def public_names(root: types.ModuleType) -> list[str]:
    """The names of an API's modules, with their namespaces."""
    found: list[str] = []
    waiting = [("", root)]
    while waiting:
        space, module = waiting.pop()
        for name in dir(module):
            if name.startswith("_") or name in LEFT_OUT:
                continue
            path = f"{space}.{name}".lstrip(".")
            try:
                value = getattr(module, name)
                if isinstance(value, types.ModuleType):
                    dir(value)
            except (AttributeError, ImportError):  # what Keras 2 would bring
                continue
            if isinstance(value, types.ModuleType):
                waiting.append((path, value))
            else:
                found.append(path)
    return sorted(found)


if __name__ == "__main__":
    tf = importlib.import_module("tensorflow")
    answers = {name: answer(tf, name) for name in CALLS}
    names = public_names(tf.compat.v1)
    FILE.write_text(json.dumps({"names": names, "answers": answers}, indent=0) + "\n")
