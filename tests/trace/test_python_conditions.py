"""What decides in `tf.cond`, `tf.case`, `tf.switch_case` and `tf.while_loop`: Python values and tensors.

Classes and key phrases are TensorFlow 2.21's (asked), with AutoGraph and without it alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

c = tf.constant
INVALID = tf.errors.InvalidArgumentError

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "cond": lambda v: tf.cond(v(), lambda: 1, lambda: 2),
    "while": lambda v: tf.while_loop(lambda i: v(), lambda i: (i + 1,), (c(0),)),
    "case": lambda v: tf.case([(v(), lambda: 1)], default=lambda: 2),
    "switch": lambda v: tf.switch_case(v(), [lambda: 1, lambda: 2]),
}
# For each value: function, what it gives eagerly, and in a graph. A number is a result, a
# pair the class of an error and its key phrase. Only loops that end are asked for results.
NO_TENSOR = (TypeError, "pred must be a Tensor, got: {0}")
NO_INDEX = (TypeError, "'branch_index' must be a Tensor, got <class '{1}'>")
NO_BOOL = (INVALID, "bool")
ROWS: list[tuple[Any, str, Any, Any]] = [
    (True, "cond", 1, (TypeError, "pred must not be a Python bool")),
    (False, "cond", 2, (TypeError, "pred must not be a Python bool")),
    (False, "while", 0, 0),
    (True, "case", NO_TENSOR, NO_TENSOR),
    (True, "switch", NO_INDEX, NO_INDEX),
    *[(v, "cond", r, NO_BOOL) for v, r in ((1, 1), (0, 2), (2.5, 1), ("a", 1), ("", 2))],
    *[(v, "while", r, NO_BOOL) for v, r in ((1, None), (0, 0), (2.5, None), ("a", None), ("", 0))],
    *[(v, "case", NO_TENSOR, NO_TENSOR) for v in (1, 2.5, "a", None, [True], np.True_)],
    *[(v, "switch", NO_INDEX, NO_INDEX) for v in (1, 2.5, "a", None, [1], np.int64(1))],
    (None, "cond", (ValueError, "None"), (ValueError, "None values not supported")),
    (None, "while", 0, None),
    ([True], "cond", 1, 1),
    (np.True_, "cond", 1, 1),
    (np.array(False), "cond", 2, 2),
    (np.False_, "while", 0, 0),
    (c(True), "cond", 1, 1),
    (c(False), "while", 0, 0),
    (c([False]), "while", 0, 0),
    (c(True), "case", 1, 1),
    (c(True), "switch", (TypeError, "must be an integer Tensor, got <dtype: 'bool'>"), None),
    (c(3), "cond", 1, NO_BOOL),
    (c(0), "while", 0, NO_BOOL),
    (c("a"), "cond", 1, NO_BOOL),
    (c(""), "cond", 2, NO_BOOL),
    (c(3), "case", (TypeError, "pred must be Tensor of type bool"), None),
    (c("a"), "case", (TypeError, "pred must be Tensor of type bool"), None),
    (c("a"), "switch", (TypeError, "must be an integer Tensor, got <dtype: 'string'>"), None),
    (c(1), "switch", 2, 2),
    (c(1, tf.int8), "switch", 2, 2),
    (c(-3), "switch", 2, 2),
    (c([1]), "switch", (INVALID, "scalar"), (INVALID, "scalar")),
]


def _id(row: Any) -> str:
    value, function, *_ = row
    return (
        f"{function} of {value!r}"
        if not tf.is_tensor(value)
        else f"{function} of tensor {value.numpy()!r}"
    )


@pytest.mark.parametrize("mode", ["eager", "graph", "graph without AutoGraph"])
@pytest.mark.parametrize("row", ROWS, ids=_id)
def test_what_decides(row: Any, mode: str) -> None:
    value, name, eager, graph = row
    want = eager if mode == "eager" or (graph is None and value is not None) else graph
    if want is None:
        pytest.skip("TensorFlow fails in its own code")

    def call() -> Any:
        made = tf.identity(value) if tf.is_tensor(value) else value
        return FUNCTIONS[name](lambda: made)

    if mode != "eager":
        call = tf.function(call, autograph=mode == "graph")
    if isinstance(want, int):
        assert int(tf.nest.flatten(call())[0]) == want
        return
    error, phrase = want
    kind = type(value)
    shown = phrase.format(
        value, kind.__name__ if kind.__module__ == "builtins" else f"numpy.{kind.__name__}"
    )
    with pytest.raises(error) as told:
        call()
    assert shown in str(told.value)


def test_singletons_of_case_are_unpacked_eagerly() -> None:
    """As documented, unless `strict`; in a graph they are what they are (asked)."""

    def chosen(**strict: Any) -> Any:
        return tf.case([(c(True), lambda: [1])], default=lambda: [2], **strict)

    assert chosen() == 1
    assert chosen(strict=True) == [1]
    assert tf.case([(c(True), lambda: (1,))], default=lambda: (2,)) == 1
    assert [int(v) for v in tf.function(chosen)()] == [1]


def test_loop_variables_and_limits_of_loops() -> None:
    with pytest.raises(ValueError, match="'loop_vars' must be provided"):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, None)
    with pytest.raises(ValueError, match="'maximum_iterations' must be a scalar"):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=[2])
    for limit in (2, c(2)):
        (end,) = tf.while_loop(
            lambda i: i < 3, lambda i: (i + 1,), (c(0),), maximum_iterations=limit
        )
        assert int(end) == 2
