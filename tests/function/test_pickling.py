"""Traced functions are pickled by name, or with their Python function."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

from intaglio import tf


@tf.function
def doubled(x: Any) -> Any:
    return x * 2


def plain(x: Any) -> Any:
    return x + 1


added = tf.function(plain, jit_compile=False, reduce_retracing=True)


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    @tf.function
    def run(self, x: Any) -> Any:
        return x * self.scale


def test_a_decorated_function_is_itself() -> None:
    doubled(tf.ones([2]))
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert copy.copy(doubled) is doubled


def test_another_name_keeps_the_options() -> None:
    read = pickle.loads(pickle.dumps(added))
    assert read.python_function is plain and read is not added
    read(tf.ones([2]))
    read(tf.ones([3]))
    read(tf.ones([4]))
    assert read.experimental_get_tracing_count() == 2


def test_a_method_comes_with_its_object() -> None:
    read = pickle.loads(pickle.dumps(Model(3.0).run))
    assert read(tf.constant(2.0)).numpy() == 6.0


def test_another_process_runs_it() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.apply_async(doubled, (tf.constant(4.0),))
        assert result.get(timeout=60).numpy() == 8.0
