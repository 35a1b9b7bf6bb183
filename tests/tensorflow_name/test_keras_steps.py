"""Keras' `fit` without `jit_compile`: a step is one native program between an iterator and an optional."""

from __future__ import annotations

import importlib.util
import json

import pytest

from tests.tensorflow_name.process import printed_by

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("keras") is None,
    reason="keras is not installed: pip install 'intaglio[keras]'",
)

PROGRAM = """
import json, threading
from intaglio import tf
from intaglio.native import host_parts, tiers
import numpy as np
keras = tf.keras
L = keras.layers

def at_once(run, work):
    run.compiling = threading.current_thread()
    work()

tiers.Background._in_background = at_once
tiers.MIN_CALLS = tiers.MAX_CALLS = 1
divided = []
begin = host_parts.HostParts.__init__

def recorded(self, *arguments):
    begin(self, *arguments)
    divided.append(self)

host_parts.HostParts.__init__ = recorded

def dense(x):
    return L.Dense(8, activation="relu")(L.Flatten()(x))

def convolution(x):
    x = L.MaxPooling2D()(L.Conv2D(4, 3, activation="relu", padding="same")(x))
    return L.Flatten()(L.DepthwiseConv2D(3)(x))

def normalised(x):
    x = L.BatchNormalization()(L.Conv2D(4, 3)(x))
    x = L.Dense(6)(L.Flatten()(L.Activation("relu")(x)))
    return L.Dropout(0.25)(L.LayerNormalization()(x))

def recurrent(cell):
    return lambda x: cell(5)(x)

def transformer(x):
    x = L.LayerNormalization()(x + L.MultiHeadAttention(2, 8)(x, x))
    x = L.LayerNormalization()(x + L.Dense(16)(L.Dense(32, activation="gelu")(x)))
    return L.GlobalAveragePooling1D()(x)

BODIES = {
    "dense": dense,
    "convolution": convolution,
    "normalised": normalised,
    "lstm": recurrent(L.LSTM),
    "gru": recurrent(L.GRU),
    "simple": recurrent(L.SimpleRNN),
    "transformer": transformer,
    "mixed_bfloat16": dense,
    "mixed_float16": dense,
}
rng = np.random.default_rng(0)
x = rng.normal(size=(28, 8, 8, 2)).astype("float32")
y = rng.integers(0, 3, 28)

def trained(name, steps=1, **options):
    keras.backend.clear_session()
    keras.utils.set_random_seed(0)
    keras.config.set_dtype_policy(name if name.startswith("mixed") else "float32")
    rows = name in ("lstm", "gru", "simple", "transformer")
    given = x.reshape(28, 8, 16) if rows else x
    if rows and name != "transformer":
        given = given[:24]
    image = keras.Input(given.shape[1:])
    model = keras.Model(image, L.Dense(3, dtype="float32")(BODIES[name](image)))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"], steps_per_execution=steps, **options)
    losses = model.fit(given, y[: len(given)], batch_size=8, epochs=5, verbose=0, shuffle=False).history["loss"]
    evaluated = model.evaluate(given, y[: len(given)], batch_size=8, verbose=0)
    predicted = model.predict(given, batch_size=8, verbose=0)
    return losses, evaluated, predicted.tolist()
"""


# Batches of one size, which the trace knows: loops have no other shapes than those of their trace.
RECURRENT = ("lstm", "gru", "simple")


@pytest.mark.parametrize(
    "name",
    [
        "dense",
        "convolution",
        "normalised",
        "lstm",
        "gru",
        "simple",
        "transformer",
        "mixed_bfloat16",
        "mixed_float16",
    ],
)
def test_steps_are_one_program_and_train_as_they_do_eagerly(name: str) -> None:
    lines = printed_by(
        PROGRAM
        + f"""
name = {name!r}
results = [trained(name, run_eagerly=True), trained(name)]
# Batches of eight rows, and of the last four; code of several functions has no `program`.
cores = [c for core in divided[0].cores for c in getattr(core, "counted", [core])]
print(all([c.native and hasattr(c.code, "program") for c in cores]), len(cores))
results.append(trained(name, jit_compile=True))
results.append(trained(name, steps=3))
for r in results:
    print(json.dumps(r))
"""
    )
    assert lines[0] == f"True {1 if name in RECURRENT else 2}"
    eager, *others = [json.loads(line) for line in lines[1:]]
    tolerance = 3e-2 if name.startswith("mixed") else 1e-3
    for losses, evaluated, predicted in others:
        assert losses == pytest.approx(eager[0], rel=tolerance)
        assert evaluated == pytest.approx(eager[1], rel=tolerance, abs=0.05)
        for row, wanted in zip(predicted, eager[2], strict=True):
            assert row == pytest.approx(wanted, rel=tolerance * 10, abs=tolerance * 10)
