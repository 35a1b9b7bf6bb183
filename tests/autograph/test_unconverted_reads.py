"""What code reads that is traced without being converted."""

import gc
import importlib.util
import logging
import subprocess
import sys
import types
import weakref

import pytest

import intaglio
from intaglio import tf

FACTOR = 2.0
CONFIG = types.SimpleNamespace(rate=0.5, nested=types.SimpleNamespace(depth=3))


class Table(dict):
    """As Keras keeps the dictionaries of layers."""


class Layer:
    offset = 1.0

    def __init__(self):
        self.scale = 2.0
        self.calls = 0
        self.name = "layer"
        self.items = [1]
        self.table = Table(factor=1.5)

    @property
    def computed(self):
        return 4.0

    def __call__(self, x, flag=None):
        self.calls += 1
        y = x * self.scale + self.offset * self.computed * self.table["factor"]
        if self.name == "layer":
            y = y * FACTOR * CONFIG.nested.depth
        return y + len(self.items) if flag else y - CONFIG.rate


def reads(f):
    return {str(r).partition(" (")[0] for r in f.captures}


EXPECTED = {
    "self.scale = 2.0",
    "self.offset = 1.0",
    "self.name = 'layer'",
    "FACTOR = 2.0",
    "CONFIG.nested.depth = 3",
    "CONFIG.rate = 0.5",
    "self.items = [1]",
    'self.table["factor"] = 1.5',
}


def test_attributes_of_parameters_and_globals() -> None:
    layer = Layer()
    f = tf.function(lambda x: layer(x), autograph=False)
    f(tf.constant(1.0))
    assert reads(f) == EXPECTED


def test_code_that_is_not_to_be_converted() -> None:
    layer = Layer()
    call = tf.autograph.experimental.do_not_convert(layer)
    f = tf.function(lambda x: call(x))
    f(tf.constant(1.0))
    assert reads(f) >= EXPECTED


@pytest.mark.parametrize("name", ["scale", "offset"])
def test_changes_of_the_object_are_noticed(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "tensorflow")
    layer = Layer()
    f = tf.function(layer.__call__, autograph=False)
    before = float(f(tf.constant(1.0)))
    layer.calls = 100  # the code writes it
    f(tf.constant(1.0))
    assert not caplog.records
    setattr(layer, name, 7.0)
    assert float(f(tf.constant(1.0))) == before
    assert f"self.{name}: " in caplog.text and "-> 7.0 (read at test_unconverted" in caplog.text
    with intaglio.captures("retrace"):
        assert float(f(tf.constant(1.0))) == float(layer(tf.constant(1.0)))


def test_code_in_loops_of_the_graph_and_traces_inside() -> None:
    layer = Layer()
    inner = tf.function(layer.__call__, autograph=False)

    @tf.function(autograph=False)
    def f(x):
        x = tf.while_loop(lambda x: x < 10.0 * layer.offset, lambda x: (layer(x),), (x,))[0]
        return inner(x)

    f(tf.constant(1.0))
    assert reads(f) >= EXPECTED


def test_closures_of_a_function_that_is_not_converted() -> None:
    scale, table = 2.0, {"k": [3.0]}

    def inner(x):
        return x * table["k"][0]

    def outer(x):
        first, *_ = table["k"]
        return inner(x) * scale + first

    f = tf.function(outer, autograph=False)
    f(tf.constant(1.0))
    assert reads(f) == {'table["k"] = [3.0]', 'table["k"][0] = 3.0', "scale = 2.0"}
    with intaglio.captures("retrace"):
        scale = 5.0
        assert float(f(tf.constant(1.0))) == 18.0
        table["k"][0] = 4.0
        assert float(f(tf.constant(1.0))) == 24.0


def test_converted_code_is_read_once() -> None:
    class Model:
        k = 3

        @tf.function
        def scaled(self, x):
            return x * self.k

    model = Model()
    model.scaled(tf.constant(1))
    assert [r.name for r in model.scaled.captures] == ["self.k"]


def test_libraries_and_objects_of_the_trace_are_left_out() -> None:
    def make(x):
        layer = Layer()
        return layer(x)

    f = tf.function(make, autograph=False)
    f(tf.constant(1.0))
    assert not {r for r in reads(f) if r.startswith("self.")}


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="pip install .[keras]")
def test_layers_of_keras_under_fit() -> None:
    program = """
import numpy as np
from tensorflow import keras

class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.scale = 2.0

    def call(self, x):
        return self.dense(x) * self.scale

model = Model()
model.compile("sgd", "mse")
x, y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")
model.fit(x, y, verbose=0)
model.scale = 5.0
model.fit(x, y, verbose=0)
"""
    done = subprocess.run(
        [sys.executable, "-m", "intaglio", "run", "--explain", "-"],
        input=program,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "self.scale: 2.0 -> 5.0 (read at" in done.stderr
    assert done.stdout.count("self.scale: 2.0 -> 5.0") == 2


def test_classes_are_not_kept_for_what_they_compute() -> None:
    """A function that calls `super` refers to its class."""

    def traced() -> weakref.ref:
        class Base:
            rate = 2.0

            def __getitem__(self, key: int) -> float:
                return 1.0

            def __getattr__(self, name: str) -> float:
                return 3.0

        class Own(Base):
            @property
            def scale(self) -> float:
                return super().rate

            def __getitem__(self, key: int) -> float:
                return super().__getitem__(key)

            def __getattr__(self, name: str) -> float:
                return super().__getattr__(name)

        own = Own()
        assert tf.function(lambda x: x * own[0] * own.scale * own.absent)(tf.constant(1.0)) == 6.0
        return weakref.ref(Own)

    kind = traced()
    gc.collect()
    assert kind() is None
