"""Names of files that requests choose are found, also through calls, branches and loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf
from intaglio.serve.request_paths import node_with_path_from


def _found(function: Callable[..., Any]) -> str | None:
    """The type of the op that takes a name which the function's inputs decide."""
    specs = [tf.TensorSpec([], tf.string, "a"), tf.TensorSpec([], tf.string, "b")]
    concrete = tf.function(function).get_concrete_function(*specs)
    graph = concrete.frozen
    node = node_with_path_from(graph, graph.inputs[: len(concrete.arg_keywords)])
    return node and node.op.name


def _branch(a: Any, b: Any) -> Any:
    if tf.equal(a, b):
        return tf.io.read_file("fixed/" + b)
    return a


def _loop(a: Any, b: Any) -> Any:
    for _ in tf.range(3):
        a = tf.io.read_file(a)
    return a


def _written(a: Any, b: Any, path: Any = "fixed") -> Any:
    tf.io.write_file(path, a)
    return tf.function(lambda x, name: tf.io.read_file(name) + x)(b, tf.constant("fixed"))


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda a, b: tf.io.read_file(a + b), "ReadFile"),
        (lambda a, b: _written(b, a, b), "WriteFile"),
        (lambda a, b: tf.io.matching_files([a]), "MatchingFiles"),
        (lambda a, b: tf.function(lambda x: tf.io.read_file(x))(a), "ReadFile"),
        (_branch, "ReadFile"),
        (_loop, "ReadFile"),
        (lambda a, b: tf.io.read_file("fixed") + a, None),
        (_written, None),
        (lambda a, b: tf.strings.join([a, b]), None),
    ],
)
def test_paths_from_requests(function: Callable[..., Any], op: str | None) -> None:
    assert _found(function) == op
