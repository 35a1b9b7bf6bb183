"""Devices as tf.config lists them, and where tensors are."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from intaglio import tf, xla
from intaglio.base import errors
from tests.gpu.conftest import HOST, NAME


def test_gpus_are_listed(gpu):
    kinds = [d.device_type for d in tf.config.list_physical_devices()]
    assert kinds[0] == "CPU" and "GPU" in kinds
    (first, *_) = tf.config.list_physical_devices("GPU")
    assert first == tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    assert tf.config.list_logical_devices("GPU")[0].name == "/device:GPU:0"
    assert tf.config.list_physical_devices("TPU") == []


def test_a_hidden_gpu_is_absent(gpu):
    tf.config.set_visible_devices([], "GPU")
    assert tf.config.get_visible_devices("GPU") == []
    assert tf.config.list_logical_devices("GPU") == []
    assert tf.config.list_physical_devices("GPU") != []
    (first, *_) = tf.config.list_physical_devices("GPU")
    assert "device_name" in tf.config.experimental.get_device_details(first)
    with tf.device(gpu):
        assert tf.constant(1.0).device == HOST
    with pytest.raises(RuntimeError, match="cannot be modified after being initialized"):
        tf.config.set_visible_devices(tf.config.list_physical_devices("GPU"), "GPU")


def test_visible_devices_have_the_type_that_is_said(gpu):
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices(tf.config.list_physical_devices("GPU"), "CPU")


def test_memory_growth(gpu):
    (first, *_) = tf.config.list_physical_devices("GPU")
    assert tf.config.experimental.get_memory_growth(first) is None
    tf.config.experimental.set_memory_growth(first, True)
    assert tf.config.experimental.get_memory_growth(first) is True
    tf.config.list_logical_devices()
    tf.config.experimental.set_memory_growth(first, True)
    with pytest.raises(RuntimeError, match="Physical devices cannot be modified"):
        tf.config.experimental.set_memory_growth(first, False)


def test_a_gpu_is_not_divided(gpu):
    (first, *_) = tf.config.list_physical_devices("GPU")
    limited = tf.config.LogicalDeviceConfiguration(memory_limit=1024)
    with pytest.raises(NotImplementedError, match="XLA_PYTHON_CLIENT_MEM_FRACTION"):
        tf.config.set_logical_device_configuration(first, [limited])
    tf.config.set_logical_device_configuration(first, [tf.config.LogicalDeviceConfiguration()])


DIVIDES_THE_HOST = """
import sys
import jax
print(jax.devices("cpu"), file=sys.stderr)
made = jax.numpy.ones(3) if "arrays" in sys.argv else None
from intaglio import tf
tf.config.list_physical_devices()
(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
from intaglio.xla import meshes
print(len(meshes.host_devices()))
"""


@pytest.mark.parametrize(("used", "count"), [("listed", "4"), ("arrays", "1")])
def test_the_host_is_divided_after_its_devices_were_listed(used, count):
    done = subprocess.run(
        [sys.executable, "-c", DIVIDES_THE_HOST, used], capture_output=True, text=True, timeout=100
    )
    assert done.stdout.split() == [count], done.stderr


def test_memory_is_counted(real_gpu):
    with tf.device(real_gpu):
        x = tf.ones((1 << 20,))
        before = tf.config.experimental.get_memory_info("GPU:0")
        y = tf.ones((1 << 22,)) * 2.0
        float(tf.reduce_sum(y))
        after = tf.config.experimental.get_memory_info("GPU:0")
    assert 0 < before["current"] <= before["peak"]
    assert after["current"] >= before["current"] + (1 << 24)
    assert tf.config.experimental.get_memory_usage("GPU:0") == after["current"]
    del x


def test_details_of_a_gpu(real_gpu):
    details = tf.config.experimental.get_device_details(tf.config.list_physical_devices("GPU")[0])
    assert details["device_name"]
    assert details["compute_capability"] >= (7, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.constant([1.0, 2.0]),
        lambda: tf.zeros((3,)),
        lambda: tf.random.normal((2,)),
        lambda: tf.random.stateless_uniform((2,), [1, 2]),
        lambda: tf.convert_to_tensor(np.arange(100.0)),
        lambda: tf.range(3),
        lambda: tf.Variable(1.0),
        lambda: tf.Variable([1, 2]).read_value(),
    ],
)
def test_what_is_made_in_a_block_is_there(gpu, make):
    with tf.device(gpu):
        made = make()
    assert made.device == NAME


def test_results_stay_and_meet_what_is_on_the_host(gpu):
    host = tf.constant([3.0, 4.0])
    with tf.device(gpu):
        there = tf.constant([1.0, 2.0])
    for found in (there + host, host + there, there * 2.0, 1.0 - there, tf.sin(there), there[0]):
        assert found.device == NAME
    assert host.device == HOST
    np.testing.assert_array_equal((there * host).numpy(), [3.0, 8.0])


def test_a_block_on_the_host_brings_results_back(gpu):
    with tf.device(gpu):
        there = tf.constant([1.0, 2.0])
        with tf.device("/CPU:0"):
            assert (there + 1.0).device == HOST
            with tf.device(None):
                assert (there + 1.0).device == NAME
    with tf.device("/CPU:0"):
        assert tf.identity(there).device == HOST
    assert there.cpu().device == HOST
    assert tf.constant(1.0).gpu().device == NAME
    with pytest.raises(RuntimeError, match="GPU:9 unknown device"):
        there.gpu(9)


def test_an_absent_gpu_is_an_error_without_soft_placement(gpu):
    tf.config.set_soft_device_placement(False)
    try:
        with (
            pytest.raises(errors.InvalidArgumentError, match=r"\[CPU, GPU\].*GPU:0"),
            tf.device("/GPU:9"),
        ):
            pass
    finally:
        tf.config.set_soft_device_placement(True)


def test_an_op_without_a_program_is_the_hosts_with_soft_placement_only(gpu):
    with tf.device(gpu):
        x = tf.constant([1.0, 0.0, 2.0])
    assert tf.where(x > 0.0).device == HOST  # as many rows as the data says
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(errors.InvalidArgumentError, match="Where has no program"):
            tf.where(x > 0.0)
    finally:
        tf.config.set_soft_device_placement(True)


def test_strings_stay_on_the_host(gpu):
    with tf.device(gpu):
        text = tf.strings.join(["a", tf.strings.as_string(tf.constant(3))])
    assert text.numpy() == b"a3"
    assert text.device == HOST


def test_a_result_is_copied_to_the_host_once(gpu):
    with tf.device(gpu):
        x = tf.ones((1000,)) + 1.0
    with xla.transfers.counting() as count:
        first = x.numpy()
        second = x.numpy()
    assert (count.to_host, count.bytes_to_host) == (1, 4000)
    first[:] = 7.0  # an array of the caller's own
    assert second[0] == 2.0 == x.numpy()[0]


def test_ops_on_tensors_that_are_there_copy_nothing(gpu):
    with tf.device(gpu):
        x, w = tf.ones((64, 32)), tf.Variable(tf.ones((32, 16)))

    def computed():
        y = tf.nn.softmax(tf.matmul(x, w) / 2.0 + tf.reduce_mean(x, 0)[0], axis=-1)
        w.assign_sub(tf.ones_like(w))
        return tf.concat([y, y], 1)

    with tf.device(gpu):
        computed()
        # Python's numbers that programs have as constants, such as axes, cross no more.
        with xla.transfers.counting() as count:
            computed()
    assert count.to_host == 0
    assert count.bytes_to_device <= 16, count


def test_no_transfer_is_hidden_from_jax(real_gpu):
    jax = pytest.importorskip("jax")
    with tf.device(real_gpu):
        x = tf.ones((64, 64))
        v = tf.Variable(tf.ones((64, 64)))

        @tf.function
        def step(x):
            v.assign_add(tf.matmul(x, v) / 64.0)
            return tf.reduce_sum(tf.random.normal([4])) + tf.reduce_sum(v)

        step(x), step(x), step(x)
        with jax.transfer_guard("disallow"):
            for _ in range(3):
                y = step(x) + 1.0
        float(y)
