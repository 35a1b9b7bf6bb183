"""Stances of calls hold for the functions of datasets that are made under them."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import intaglio
from intaglio import tf

Dataset = tf.data.Dataset


@pytest.mark.parametrize("parallel", [None, 4])
def test_eager_functions_run_as_python_for_each_element(parallel: int | None) -> None:
    seen: list[object] = []
    factor = [1]

    @tf.function
    def inside(x):
        seen.append(x)
        return x * factor[0]

    with intaglio.stance("eager"):
        d = Dataset.range(3).map(lambda x: {"a": inside(x), "b": (x, "t")}, parallel)
    assert d.element_spec == {
        "a": tf.TensorSpec([], tf.int64),
        "b": (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string)),
    }
    seen.clear()
    assert [int(e["a"]) for e in d] == [0, 1, 2]
    assert [int(x.numpy()) for x in seen] == [0, 1, 2]
    factor[0] = 10  # eager functions read what there is, without a warning
    with intaglio.captures("error"):
        assert [int(e["a"]) for e in d] == [0, 10, 20]
    assert inside.experimental_get_tracing_count() == 0


def test_a_stance_may_be_about_one_function() -> None:
    seen: list[object] = []

    def noted(x):
        seen.append(x)
        return x > 0

    def doubled(x):
        seen.append(x)
        return x * 2

    with intaglio.stance("eager", noted):
        d = Dataset.range(3).filter(noted).map(doubled)
    assert len(seen) == 2
    assert [int(x) for x in d] == [2, 4]
    assert len(seen) == 5


def test_every_kind_of_function_runs_as_python() -> None:
    with intaglio.stance("eager"):
        d = Dataset.range(6)
        assert [int(x) for x in d.scan(np.int64(0), lambda s, x: (s + x, s + x))][-1] == 15
        assert int(d.reduce(np.int64(0), lambda s, x: s + x)) == 15
        inner = d.flat_map(lambda x: Dataset.range(x).map(lambda y: y * 10))
        assert [int(x) for x in inner][-3:] == [20, 30, 40]
        groups = d.group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), 3)
        assert sorted(x.numpy().tolist() for x in groups) == [[0, 2, 4], [1, 3, 5]]


def test_verified_functions_are_compared_for_each_element() -> None:
    with intaglio.stance("verify"):
        d = Dataset.range(3).map(lambda x: x * 2).map(functools.partial(tf.add, y=1))
    assert [int(x) for x in d] == [1, 3, 5]

    calls: list[int] = []

    def differs(x):
        calls.append(1)
        return x + len(calls)

    with intaglio.stance("verify"):
        d = Dataset.range(2).map(differs)
    with pytest.raises((intaglio.VerificationError, tf.errors.OpError), match="differ"):
        list(d)


@pytest.mark.parametrize("mode", ["no_new_traces", "eager_on_miss"])
def test_other_stances_are_about_calls(mode: str) -> None:
    seen: list[object] = []
    with intaglio.stance(mode):
        d = Dataset.range(3).map(lambda x: seen.append(x) or x + 1)
    assert [int(x) for x in d] == [1, 2, 3]
    assert len(seen) == 1


def test_functions_that_are_run_eagerly_are_none_of_datasets() -> None:
    seen: list[object] = []
    tf.config.run_functions_eagerly(True)
    try:
        d = Dataset.range(3).map(lambda x: seen.append(x) or x + 1)
    finally:
        tf.config.run_functions_eagerly(False)
    assert [int(x) for x in d] == [1, 2, 3]
    assert len(seen) == 1
