"""Libraries between the user's functions: their statements stay Python, the user's are converted."""

from __future__ import annotations

import linecache
import textwrap
import warnings
from typing import Any

import pytest

from intaglio import tf

LIBRARY = """
    import functools

    state = {}

    def noted(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            finally:
                state["calls"] = state.get("calls", 0) + 1
        return wrapper

    class Base:
        @noted
        def __call__(self, *args, **kwargs):
            if "scratch" not in state:
                state["scratch"] = []
            state["scratch"].append(1)
            kwargs.pop("nothing", None)
            outputs = [layer(*args, **kwargs) for layer in (self.call,)]
            return outputs[0]

    class Chain(Base):
        def __init__(self, *parts):
            super().__init__()
            self.parts = parts

        def call(self, x: "NoSuchName") -> "NoSuchName":
            for part in self.parts:
                x = part(x)
            return x

    def chosen(x):
        if x > 0:
            return x
        else:
            return -x
"""


def library(name: str) -> dict[str, Any]:
    """What a module of that name holds, its source found as a file's is."""
    text = textwrap.dedent(LIBRARY)
    path = f"<{name}>/library.py"
    lines = text.splitlines(keepends=True)
    linecache.cache[path] = (len(text), None, lines, path)
    names: dict[str, Any] = {"__name__": f"{name}.library"}
    exec(compile(text, path, "exec"), names)
    return names


def test_a_users_layer_is_converted_within_kerass_calls() -> None:
    keras = library("keras")

    class Clipped(keras["Base"]):
        def call(self, x: Any) -> Any:
            if tf.reduce_sum(x) > 3.0:
                return tf.ones_like(x)
            return x * 2.0

    model = keras["Chain"](Clipped(), Clipped())

    @tf.function
    def f(x: Any) -> Any:
        return model(x)

    assert f(tf.constant([1.0, 1.0])).numpy().tolist() == [1.0, 1.0]
    assert f(tf.constant([0.5, 0.0])).numpy().tolist() == [2.0, 0.0]
    assert keras["state"]["calls"] == 3


def test_what_a_library_keeps_is_no_state_of_the_users_loop() -> None:
    keras = library("keras")

    class Double(keras["Base"]):
        def call(self, x: Any) -> Any:
            return x * 2.0

    layer = Double()

    @tf.function
    def f(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            if tf.reduce_sum(x) < 100.0:
                x = layer(x)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(tf.constant([1.0]), tf.constant(3)).numpy().tolist() == [8.0]


@pytest.mark.parametrize("name", ["keras", "tf_keras", "tensorflow_probability", "PIL"])
def test_a_librarys_own_statements_are_not_converted(name: str) -> None:
    # TensorFlow 2.21 converts nothing of these four.
    chosen = library(name)["chosen"]
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: chosen(x))(tf.constant(1.0))


def test_other_libraries_are_converted_whole() -> None:
    chosen = library("sonnet")["chosen"]
    assert float(tf.function(lambda x: chosen(x))(tf.constant(-2.0))) == 2.0


def test_attributes_of_tensors_are_the_traces() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = x * 2.0
            x.mask = None
            del x.mask
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(f(tf.constant(1.0), tf.constant(3))) == 8.0
