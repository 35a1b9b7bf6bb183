"""A step that fails leaves every variable as it was before the failing op, or fully assigned.

Programs of assignments, some of them wrong, are run by NumPy one after the other up to the
first that fails; eager and traced steps, also optimised ones, must leave the same behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

SIZE = 4


class Stop(Exception):
    """The model's failing op."""


def row_of(indices: list[int]) -> None:
    if any(not 0 <= i < SIZE for i in indices):
        raise Stop


def model(arrays: list[np.ndarray], step: tuple[str, int, list[int]]) -> None:
    kind, at, numbers = step
    v, values = arrays[at], np.asarray(numbers, np.float32)
    if kind in ("assign", "add"):
        if len(numbers) != SIZE:
            raise Stop
        v[:] = values if kind == "assign" else v + values
    elif kind == "scatter_update":
        row_of(numbers)
        for i in numbers:
            v[i] = 7.0
    elif kind == "scatter_add":
        row_of(numbers)
        np.add.at(v, numbers, np.arange(len(numbers), dtype=np.float32))
    elif kind == "slice":
        if len(numbers) != 2:
            raise Stop
        v[1:3] = values
    elif kind == "copy":
        arrays[(at + 1) % len(arrays)][:] = v * 2
    elif kind == "check" and (v < -3).any():
        raise Stop


def perform(variables: list[Any], step: tuple[str, int, list[int]], data: Any) -> None:
    kind, at, _ = step
    v = variables[at]
    values = tf.cast(data, tf.float32)
    if kind == "assign":
        tf.raw_ops.AssignVariableOp(resource=v.handle, value=tf.ensure_shape(values, [SIZE]))
    elif kind == "add":
        v.assign(v + values + tf.zeros([SIZE]))
    elif kind == "scatter_update":
        v.scatter_update(tf.IndexedSlices(tf.fill(tf.shape(data), 7.0), data))
    elif kind == "scatter_add":
        counted = tf.cast(tf.range(tf.size(data)), tf.float32)
        v.scatter_add(tf.IndexedSlices(counted, data))
    elif kind == "slice":
        v[1:3].assign(values)
    elif kind == "copy":
        variables[(at + 1) % len(variables)].assign(v * 2.0)
    elif kind == "check":
        tf.debugging.assert_greater_equal(v, -3.0)


KINDS = ["assign", "add", "scatter_update", "scatter_add", "slice", "copy", "check"]
right = st.lists(st.integers(0, SIZE - 1), min_size=SIZE, max_size=SIZE)
steps = st.tuples(
    st.sampled_from(KINDS),
    st.integers(0, 2),
    st.one_of(right, right, st.lists(st.integers(-2, 9), min_size=2, max_size=5)),
)
programs = st.lists(steps, min_size=1, max_size=8)


def traced_one(variables: list[Any], program: list[Any]) -> Callable[..., None]:
    spec = [tf.TensorSpec([None], tf.int32)] * len(program)

    @tf.function(autograph=False, input_signature=spec)
    def run(*data: Any) -> None:
        for step, numbers in zip(program, data, strict=True):
            perform(variables, step, numbers)

    return run


def inside(variables: list[Any], program: list[Any]) -> Callable[..., None]:
    """The same in a branch of a loop's body."""
    spec = [tf.TensorSpec([None], tf.int32)] * len(program)

    @tf.function(input_signature=spec)
    def run(*data: Any) -> None:
        for i in tf.range(1):
            if i < 1:
                for step, numbers in zip(program, data, strict=True):
                    perform(variables, step, numbers)

    return run


def eager(variables: list[Any], program: list[Any]) -> Callable[..., None]:
    def run(*data: Any) -> None:
        for step, numbers in zip(program, data, strict=True):
            perform(variables, step, numbers)

    return run


@pytest.mark.parametrize("make", [eager, traced_one, inside])
@given(programs)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_what_a_failing_step_leaves(make: Any, program: list[Any]) -> None:
    arrays = [np.arange(SIZE, dtype=np.float32) + i for i in range(3)]
    variables = [tf.Variable(a, shape=[SIZE]) for a in arrays]
    run = make(variables, program)
    data = [tf.constant(numbers, tf.int32) for _, _, numbers in program]
    for _ in range(4):  # as traced, and optimised
        failed = False
        try:
            for step in program:
                model(arrays, step)
        except Stop:
            failed = True
        if failed:
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                run(*data)
        else:
            run(*data)
        for variable, array in zip(variables, arrays, strict=True):
            np.testing.assert_array_equal(variable.numpy(), array)
