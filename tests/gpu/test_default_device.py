"""A GPU as the default device: what a program without `tf.device` does on TensorFlow's machines with a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import intaglio
from intaglio import tf, xla
from intaglio.base.log import logger
from intaglio.base.options import OPTIONS
from intaglio.function import concrete
from intaglio.opdef import door
from tests.gpu.conftest import HOST, NAME


@pytest.fixture
def default(gpu):
    with intaglio.default_device(gpu):
        yield gpu


def test_tensors_are_placed_on_the_default_device(default):
    v = tf.Variable([1.0, 2.0])
    x = tf.constant([3.0, 4.0])
    made = [x, v.value(), x * v, tf.ones((2,)), tf.random.uniform((2,)), tf.convert_to_tensor([1])]
    assert {t.device for t in made} == {NAME}
    assert v.device == NAME


def test_functions_run_there_in_every_call(default):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        with tf.init_scope():
            made = tf.ones((2,))
        v.assign_add(x)
        return v * made

    for count in range(1, 6):
        found = step(tf.constant([1.0, 1.0]))
        assert found.device == NAME
        np.testing.assert_array_equal(found.numpy(), [1.0 + count, 2.0 + count])


def test_gradients_and_variables_of_functions_are_there(default):
    held = []

    @tf.function
    def loss(x):
        if not held:
            held.append(tf.Variable([2.0, 3.0]))
        return tf.reduce_sum(held[0] ** 2 * x)

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = loss(x)
    slope = tape.gradient(y, held[0])
    assert (held[0].device, slope.device) == (NAME, NAME)
    np.testing.assert_array_equal(slope.numpy(), [4.0, 12.0])


def test_a_block_names_another_device_and_none_the_default(default):
    with tf.device("/CPU:0"):
        here = tf.ones((2,))
        assert (here + 1.0).device == HOST
        with tf.device(None):
            assert tf.ones((2,)).device == NAME
        with tf.init_scope():
            assert tf.ones((2,)).device == HOST
    assert (here + here).device == NAME
    assert tf.function(lambda x: x + 1.0)(here).device == NAME


def test_what_only_the_host_computes_is_no_error_without_soft_placement(default):
    tf.config.set_soft_device_placement(False)
    try:
        numbers = tf.strings.to_number(tf.constant(["1", "2"]))
    finally:
        tf.config.set_soft_device_placement(True)
    np.testing.assert_array_equal(numbers.numpy(), [1.0, 2.0])


def test_threads_that_start_later_have_it_too(default):
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(tf.ones((2,)).device))
    thread.start()
    thread.join()
    assert seen == [NAME]


def test_it_ends_with_the_block(gpu):
    before = door.STATE.unusual
    with intaglio.default_device(gpu):
        assert door.STATE.unusual == before + 1
        with intaglio.default_device(""):
            assert tf.ones((2,)).device == HOST
            assert door.STATE.unusual == before
        assert tf.ones((2,)).device == NAME
    assert door.STATE.unusual == before
    assert tf.ones((2,)).device == HOST


def test_an_absent_device_and_an_open_tape_are_errors(gpu):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"There is no device .*GPU:7"):
        intaglio.default_device("/GPU:7")
    with tf.GradientTape(), pytest.raises(RuntimeError, match="while a tape is open"):
        intaglio.default_device(gpu)
    assert OPTIONS.default_device == ""


PROGRAM = """
from intaglio import tf, xla
from intaglio.opdef.door import STATE
print((tf.ones((2,)) + 1.0).device, STATE.unusual)
"""


@pytest.mark.parametrize("name", ["GPU:9", "/CPU:0"])
def test_the_environment_names_it(name):
    environment = {**os.environ, "INTAGLIO_DEFAULT_DEVICE": name}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stdout.split() == [HOST, "0"], done.stderr
    assert ("There is no device" in done.stderr) == name.startswith("GPU")


@pytest.mark.parametrize("chosen", ["", "/CPU:0"])
def test_training_on_the_host_beside_a_plugin_is_logged_once(monkeypatch, chosen):
    monkeypatch.setattr(xla, "has_plugin", lambda: True)
    monkeypatch.setattr(OPTIONS, "default_device", chosen)
    said: list[str] = []
    monkeypatch.setattr(logger(), "warning", said.append)
    concrete._note_unused_accelerator.cache_clear()
    v = tf.Variable(1.0)
    for _ in range(2):
        step = tf.function(lambda: v.assign_add(1.0))
        for _ in range(3):
            step()
    assert said == ([] if chosen else [concrete.UNUSED])
    concrete._note_unused_accelerator.cache_clear()
