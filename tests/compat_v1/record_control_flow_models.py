"""SavedModels of sessions whose graphs have control flow by dataflow, written and run by real TensorFlow.

Runs where TensorFlow is installed, and nowhere else:

    path/to/python-with-tensorflow -m tests.compat_v1.record_control_flow_models

writes `control_flow_models/NAME/`, and what calls of the signatures give into `answers.json`.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
FOLDER = pathlib.Path(__file__).with_name("control_flow_models")
MODELS: dict[str, tuple[Callable[..., Any], list[dict[str, Any]]]] = {}
NUMBERS = np.random.default_rng(0)


def model(*calls: dict[str, Any]) -> Callable[[Any], Any]:
    """Records a function that builds a graph and returns its inputs and outputs, with calls of it."""

    def keep(function: Any) -> Any:
        MODELS[function.__name__] = function, list(calls)
        return function

    return keep


def numbers(*shape: int) -> list[Any]:
    return NUMBERS.standard_normal(shape).astype(np.float32).round(3).tolist()


def weights(name: str, *shape: int) -> Any:
    start = NUMBERS.standard_normal(shape).astype(np.float32).round(3)
    return v1.get_variable(name, initializer=start / np.float32(2))


@model(*[{"x": numbers(2, n, 3), "lengths": [n, 1]} for n in (1, 4)])
def recurrent() -> Any:
    """A recurrent network over sequences of several lengths, with a step of training in the graph."""
    x = v1.placeholder(tf.float32, [None, None, 3], "x")
    lengths = v1.placeholder(tf.int32, [None], "lengths")
    kernel, bias = weights("kernel", 7, 4), weights("bias", 4)
    steps = tf.shape(x)[1]
    inputs = tf.TensorArray(tf.float32, steps).unstack(tf.transpose(x, [1, 0, 2]))
    outputs = tf.TensorArray(tf.float32, steps)

    def step(i: Any, state: Any, outputs: Any) -> Any:
        both = tf.concat([inputs.read(i), state], 1)
        new = tf.tanh(tf.matmul(both, kernel) + bias)
        new = tf.where(tf.broadcast_to((i < lengths)[:, None], tf.shape(new)), new, state)
        return i + 1, new, outputs.write(i, new)

    start = (tf.constant(0), tf.zeros([tf.shape(x)[0], 4]), outputs)
    _, last, outputs = tf.while_loop(lambda i, *_: i < steps, step, start)
    everything = tf.transpose(outputs.stack(), [1, 0, 2])
    v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(last**2))
    return {"x": x, "lengths": lengths}, {"last": last, "all": everything}


@model(*[{"x": numbers(4, 3), "training": t} for t in (True, True, False, True, False)])
def normalised() -> Any:
    """A layer whose moving averages change in one branch, in a step of training."""
    x = v1.placeholder(tf.float32, [None, 3], "x")
    training = v1.placeholder_with_default(False, [], "training")
    mean = v1.get_variable("mean", [3], initializer=v1.zeros_initializer(), trainable=False)
    steps = v1.get_variable("steps", [], initializer=v1.zeros_initializer(), trainable=False)

    def of_batch() -> Any:
        now = tf.reduce_mean(x, 0)
        with tf.control_dependencies([v1.assign_sub(mean, 0.1 * (mean - now))]):
            return tf.identity(now), v1.assign_add(steps, 1.0) + 0.0

    used, count = tf.cond(training, of_batch, lambda: (mean + 0.0, steps + 0.0))
    y = tf.matmul(x - used, weights("w", 3, 2))
    loss = tf.reduce_mean(y**2)
    with tf.control_dependencies([v1.train.GradientDescentOptimizer(0.1).minimize(loss)]):
        loss = loss + 0.0
    return {"x": x, "training": training}, {"y": y, "count": count, "mean": used, "loss": loss}


@model(*[{"p": p, "n": n} for p, n in ((True, 3), (False, 2), (True, 0), (True, 1))])
def counted() -> Any:
    """Variables that a loop and both branches change."""
    p, n = v1.placeholder(tf.bool, [], "p"), v1.placeholder(tf.int32, [], "n")
    total = v1.get_variable("total", initializer=1.0)

    def step(i: Any, last: Any) -> Any:
        with tf.control_dependencies([last]):
            return i + 1, v1.assign_add(total, tf.cast(i, tf.float32) + 1.0) + 0.0

    _, looped = tf.while_loop(
        lambda i, _: i < n, step, (0, tf.constant(0.0)), parallel_iterations=1
    )
    with tf.control_dependencies([looped]):
        chosen = tf.cond(
            p,
            lambda: v1.assign(total, looped * 2.0) + 0.0,
            lambda: v1.assign_sub(total, 10.0) + 0.0,
        )
    return {"p": p, "n": n}, {"looped": looped, "chosen": chosen}


@model({"words": ["b", "?", "a"], "ask": True}, {"words": ["c"], "ask": False})
def looked_up() -> Any:
    """A table that one branch asks, and a function mapped over rows."""
    words, ask = v1.placeholder(tf.string, [None], "words"), v1.placeholder(tf.bool, [], "ask")
    keys = tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], [1, 2, 3], tf.string, tf.int64)
    table = tf.lookup.StaticHashTable(keys, -1)
    ids = tf.cond(
        ask, lambda: table.lookup(words), lambda: tf.cast(tf.strings.length(words), tf.int64)
    )
    squares = v1.map_fn(lambda i: tf.cond(i > 1, lambda: i * i, lambda: -i), ids)
    sums = v1.scan(lambda a, i: a + i, squares)
    return {"words": words, "ask": ask}, {"ids": ids, "squares": squares, "sums": sums}


def written(build: Any, calls: list[dict[str, Any]], folder: pathlib.Path, refs: bool) -> Any:
    """The answers of a model that was written."""
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("", use_resource=not refs):
            inputs, outputs = build()
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        main = v1.tables_initializer()
        v1.saved_model.simple_save(session, str(folder), inputs, outputs, legacy_init_op=main)
        found = []
        for call in calls:
            values = session.run(outputs, {inputs[name]: value for name, value in call.items()})
            found.append({name: value.tolist() for name, value in values.items()})
        return {"calls": calls, "answers": found}


if __name__ == "__main__":
    v1.disable_v2_behavior()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    os.chdir(FOLDER)
    answers = {}
    for name, (build, calls) in MODELS.items():
        for refs in (False, True):
            key = f"{name}_references" if refs else name
            answers[key] = written(build, calls, pathlib.Path(key), refs)
    pathlib.Path("answers.json").write_text(json.dumps(answers, indent=1) + "\n")
