"""Replicas that nothing would wake raise an error at once, where waiting would take for ever."""

from __future__ import annotations

import subprocess
import sys

from tests.distribute import recording

PROGRAM = """
import threading
import intaglio.tf as tf

config = tf.config
parts = [config.LogicalDeviceConfiguration()] * 2
config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
kept = []


def keep():
    kept.append(tf.distribute.get_replica_context())


def in_a_thread():
    replica = tf.distribute.get_replica_context()
    errors = []

    def wait():
        try:
            replica.all_reduce("SUM", 1.0)
        except RuntimeError as e:
            errors.append(str(e))

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    print(errors[0][:60])


strategy.run(keep)
for call in (
    lambda: kept[0].all_reduce("SUM", 1.0),
    lambda: kept[1].all_gather([1.0], axis=0),
    lambda: kept[0].merge_call(lambda s: None),
):
    try:
        call()
    except RuntimeError as e:
        print(str(e)[:60])
strategy.run(in_a_thread)
"""


def test_a_context_outside_of_its_replica() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=recording.ROOT, capture_output=True, text=True, timeout=60)
    said = "`merge_call` called outside of the replica that is to wait f"
    assert done.stdout.splitlines() == [said] * 5, done.stderr
