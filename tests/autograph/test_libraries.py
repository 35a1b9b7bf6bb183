"""Libraries between the user's functions: their statements stay Python, the user's are converted."""

from __future__ import annotations

import functools
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

        def chosen(self, x):
            if x > 0:
                return x
            return -x

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


def test_what_a_library_calls_stays_python() -> None:
    # TensorFlow 2.21 gives these answers for a module of this name.
    keras = library("keras")

    class Clipped(keras["Base"]):
        def call(self, x: Any) -> Any:
            if tf.reduce_sum(x) > 3.0:
                return tf.ones_like(x)
            return x * 2.0

    class Traced(Clipped):
        call = tf.function(Clipped.call)

    layer = Clipped()
    x = tf.constant([1.0, 1.0])
    refused = pytest.raises(
        tf.errors.OperatorNotAllowedInGraphError,
        match="'call' is not converted: keras calls it, and what a library calls stays Python",
    )
    for call in (lambda x: layer(x), lambda x: keras["Chain"](layer)(x)):
        with refused:
            tf.function(call)(x)
    with refused:
        tf.data.Dataset.from_tensors(x).map(layer)
    for call in (layer.call, lambda x: layer.call(x), Traced(), lambda x: Traced()(x)):
        assert tf.function(call)(x).numpy().tolist() == [2.0, 2.0]
    assert keras["state"]["calls"] == 6


@pytest.mark.parametrize("name", ["keras", "tf_keras", "tensorflow_probability", "numpy", "PIL"])
def test_what_is_traced_is_converted_wherever_it_comes_from(name: str) -> None:
    # TensorFlow 2.21 gives these answers for modules of these names.
    names = library(name)
    chosen, method = names["chosen"], names["Base"]().chosen
    for traced in (chosen, method, functools.partial(chosen), tf.autograph.to_graph(chosen)):
        autograph = not hasattr(traced, "autograph_artifact__")
        assert float(tf.function(traced, autograph=autograph)(tf.constant(-2.0))) == 2.0
    refused = pytest.raises(
        tf.errors.OperatorNotAllowedInGraphError, match=f"{name} is not converted, and neither is"
    )
    for call in (lambda x: chosen(x), lambda x: method(x), lambda x: tf.map_fn(chosen, x[None])):
        with refused:
            tf.function(call)(tf.constant(1.0))
    with refused:
        tf.data.Dataset.range(2).map(chosen)


def test_a_wrapper_is_of_the_module_of_what_it_wraps() -> None:
    # TensorFlow 2.21 too: functools.wraps gives it that module.
    wrapping = library("keras")["noted"]

    @wrapping
    def absolute(x: Any) -> Any:
        if x > 0:
            return x
        return -x

    assert float(tf.function(lambda x: absolute(x))(tf.constant(-2.0))) == 2.0


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
