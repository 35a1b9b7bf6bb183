"""Reports on errors besides their messages: values, shapes, iterations and branches; and `f.debug`."""

from __future__ import annotations

import bdb
import pathlib
from types import FrameType
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf


def notes_of(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", []))


def line_of(text: str) -> int:
    lines = pathlib.Path(__file__).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == text)


# -- errors of a run --------------------------------------------------------------------------


@tf.function
def taken(x: Any, n: Any) -> Any:
    for i in tf.range(n):
        if i > 1:
            x = x + tf.gather(x, i * 10)
    return x


def test_a_run_reports_its_inputs_and_the_path() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="20 is not in") as caught:
        taken(tf.constant([1, 2]), tf.constant(4))
    told = notes_of(caught.value)
    assert (
        "The inputs were params: int32[2] = [1, 2]; indices: int32[] = 20; axis: int32[] = 0."
        in told
    )
    branch, loop = line_of("if i > 1:"), line_of("for i in tf.range(n):")
    assert f"It was in the main branch of line {branch}." in told
    assert f"It was in iteration 2 of the loop of line {loop}." in told
    assert told.count("The inputs were") == 1


def test_the_last_error_keeps_the_inputs() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        taken(tf.constant([1, 2]), tf.constant(4))
    last = intaglio.last_error
    assert last.node == "GatherV2"
    assert last.inputs["indices"] == 20
    np.testing.assert_array_equal(last.inputs["params"], [1, 2])
    assert [step.split(" of ")[0] for step in last.path] == ["in iteration 2", "in the main branch"]


def test_a_case_reports_its_branch_and_each_run_only_its_own_steps() -> None:
    @tf.function
    def f(x: Any, which: Any) -> Any:
        return tf.switch_case(which, [lambda: x, lambda: tf.gather(x, 10 * which)])

    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            f(tf.constant([1, 2]), tf.constant(1))
        line = line_of(
            "return tf.switch_case(which, [lambda: x, lambda: tf.gather(x, 10 * which)])"
        )
        assert intaglio.last_error.path == [f"in branch 1 of line {line}"]
        assert f"It was in branch 1 of line {line}." in notes_of(caught.value)


def test_steps_are_those_of_the_kernels_not_of_names_of_the_users() -> None:
    """Local variables of a function named like a kernel's say nothing."""

    def kernel(x: Any) -> Any:
        then_branch, turn = None, 7
        assert then_branch is None and turn
        raise ValueError(f"no {x.numpy()}")

    @tf.function
    def f(x: Any) -> Any:
        for i in tf.range(3):
            if i == 1:
                x = tf.py_function(kernel, [x], tf.int32)
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="no 5"):
        f(tf.constant(5))
    loop, branch = line_of("for i in tf.range(3):"), line_of("if i == 1:")
    assert intaglio.last_error.path == [
        f"in iteration 1 of the loop of line {loop}",
        f"in the main branch of line {branch}",
    ]


def test_large_inputs_are_shown_by_their_shape() -> None:
    @tf.function
    def f(x: Any, i: Any) -> Any:
        return tf.gather(x, i)

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        f(tf.zeros([10, 10]), tf.constant(99))
    assert "params: float32[10,10]; indices: int32[] = 99" in notes_of(caught.value)


def test_inputs_are_those_of_the_node_and_not_of_a_function_named_like_a_kernel() -> None:
    def kernel(weight: Any) -> Any:
        raise ValueError(f"no {weight.numpy()}")

    @tf.function
    def f(x: Any) -> Any:
        return tf.py_function(kernel, [x], tf.int32)

    with pytest.raises(tf.errors.InvalidArgumentError, match="no 5"):
        f(tf.constant(5))
    assert list(intaglio.last_error.inputs) == ["input"]
    np.testing.assert_array_equal(intaglio.last_error.inputs["input"], [5])


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_lists_of_inputs_and_constants_are_reported_before_and_after_optimization(
    calls: int,
) -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)] * 2)
    def f(x: Any, y: Any) -> Any:
        return tf.reshape(tf.concat([x, y], 0), [2, 2])

    for _ in range(calls):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            f(tf.ones([2]), tf.ones([1]))
    assert "tensor: float32[3] = [1.0, 1.0, 1.0]; shape: int32[2] = [2, 2]" in notes_of(
        caught.value
    )

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)] * 2)
    def g(x: Any, y: Any) -> Any:
        return tf.concat([x, y], 0)

    for _ in range(calls):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            g(tf.ones([1, 1]), tf.ones([1, 2]))
    assert (
        "values: [float32[1,1] = [[1.0]], float32[1,2] = [[1.0, 1.0]]]; axis: int32[] = 0"
        in notes_of(caught.value)
    )


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_the_kernel_that_an_op_fits_to_its_node_reports_inputs_too(calls: int) -> None:
    @tf.function
    def f(x: Any, i: Any) -> Any:
        return tf.tensor_scatter_nd_add(x, i, [1.0])

    for _ in range(calls):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            f(tf.ones([2]), tf.constant([[7]]))
    assert "indices: int32[1,1] = [[7]]" in notes_of(caught.value)


def test_what_the_user_raises_gets_no_report_of_inputs() -> None:
    class Refused(Exception):
        pass

    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            raise Refused(f"{x}")
        return x

    with pytest.raises(Refused, match="3") as caught:
        f(tf.constant(3))
    assert "inputs" not in notes_of(caught.value)


# -- errors of tracing ------------------------------------------------------------------------


class Layer:
    """Has a weight."""

    def __init__(self) -> None:
        self.w = tf.Variable(tf.ones([4, 5]))

    @tf.function
    def multiplied(self, x: Any) -> Any:
        y = x * 2.0
        return tf.matmul(y, self.w)


def test_tracing_reports_the_shapes_of_the_names() -> None:
    with pytest.raises(ValueError, match="Dimensions must be equal") as caught:
        Layer().multiplied(tf.ones([2, 3]))
    told = notes_of(caught.value)
    assert f"`tf.matmul(y, self.w)`: y is float32[2,3] from line {line_of('y = x * 2.0')}" in told


def test_operators_are_reported_too() -> None:
    @tf.function
    def f(x: Any, y: Any) -> Any:
        if tf.reduce_sum(x) > 0.0:
            x = x + y
        return x

    with pytest.raises(ValueError) as caught:
        f(tf.ones([2]), tf.ones([3]))
    assert "`x + y`: x is float32[2], y is float32[3]" in notes_of(caught.value)


# -- stepping through -------------------------------------------------------------------------


class _Stops(bdb.Bdb):
    """Keeps the local values at a line."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.seen: list[dict[str, Any]] = []
        self.set_break(__file__, line)

    def user_line(self, frame: FrameType) -> None:
        if self.break_here(frame):
            self.seen.append(dict(frame.f_locals))
        self.set_continue()


@tf.function
def summed(n: Any) -> Any:
    total = n * 0
    for i in tf.range(n):
        if i > 1:
            total = total + i  # here
    return total


def test_debug_stops_with_values_in_every_iteration() -> None:
    stops = _Stops(line_of("total = total + i  # here"))
    try:
        result: Any = stops.runcall(summed.debug, tf.constant(4))
    finally:
        stops.clear_all_breaks()
    assert int(result) == 5
    assert [int(seen["i"]) for seen in stops.seen] == [2, 3]
    assert [int(seen["total"]) for seen in stops.seen] == [0, 2]
    assert summed.experimental_get_tracing_count() == 0


def test_debug_of_methods_and_of_what_is_not_converted() -> None:
    layer = Layer()
    assert layer.multiplied.debug(tf.ones([2, 4])).shape == [2, 5]
    plain = tf.function(lambda x: x + 1, autograph=False)
    assert plain.debug(tf.constant(1)).numpy() == 2
