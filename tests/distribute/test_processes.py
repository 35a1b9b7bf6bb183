"""Two processes on this machine, brought together by `intaglio launch`.

What Keras' `fit` gives in them is what was recorded on TensorFlow for two logical devices: the strategy
of several workers itself does not run Keras 3 there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from intaglio import xla
from intaglio.distribute.multi_worker import TIMEOUT_VARIABLE
from intaglio.tools.launching import free_ports
from tests.distribute import recording

pytestmark = pytest.mark.skipif(not xla.is_installed(), reason=xla.INSTALL)
WORKERS = recording.FOLDER.parent / "workers"


def launched(script: str, *arguments: str) -> tuple[int, str]:
    """Exit code and output of `intaglio launch -n 2`."""
    command = [sys.executable, "-m", "intaglio", "launch", "-n", "2", str(WORKERS / script)]
    done = subprocess.run(
        [*command, *arguments], cwd=recording.ROOT, capture_output=True, text=True, timeout=100
    )
    return done.returncode, done.stdout + done.stderr


def results(output: str) -> list[dict[str, Any]]:
    """The lines of JSON, by worker."""
    lines = [line[line.index("{") :] for line in output.splitlines() if '{"worker"' in line]
    return sorted(map(json.loads, lines), key=lambda found: found["worker"])


def test_collectives() -> None:
    code, output = launched("collectives.py")
    assert code == 0, output
    first, second = results(output)
    for found in (first, second):
        number = found["worker"]
        kinds = [1.5, 1.5, 1.0]
        for name in ("eager", "traced"):
            gradient = 2.0 * 2 * (number + 1)
            assert found[name] == [5.0, gradient, [0, 1, 1], kinds], name
        assert found["first value"] == 5.0
        assert found["variables"] == [15.0, 4.0]
        assert found["slices"] == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
        assert found["mean"] == 1.5
    assert first["batches"] == [[0, 1], [4, 5], [8]]
    assert second["batches"] == [[2, 3], [6, 7], [9]]


@pytest.mark.skipif(not recording.has_keras(), reason="keras is not installed")
def test_keras_fits_as_on_two_logical_devices() -> None:
    code, output = launched("fit.py")
    assert code == 0, output
    for found in results(output):
        assert found["said"] == recording.answers("keras_fit")


def test_a_worker_that_dies_is_named_by_the_others() -> None:
    code, output = launched("collectives.py", "1")
    assert code
    assert "worker 1 (127.0.0.1:" in output
    assert "stopped while all workers were computing together" in output
    assert "intaglio launch: worker 1 ended with exit code 9" in output


def test_the_others_end_when_the_first_dies() -> None:
    code, output = launched("collectives.py", "0")
    assert code
    assert "intaglio launch: worker 0 ended with exit code 9" in output


def test_workers_that_never_come_are_named() -> None:
    addresses = [f"127.0.0.1:{port}" for port in free_ports(3)]
    config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": 1}}
    environment = {**os.environ, "TF_CONFIG": json.dumps(config), TIMEOUT_VARIABLE: "0.5"}
    program = "from intaglio import tf; tf.distribute.MultiWorkerMirroredStrategy()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=recording.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    expected = f"worker 0 ({addresses[0]}), worker 2 ({addresses[2]}) did not come within 0.5 s"
    assert expected in done.stderr


def test_without_jax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from intaglio import tf

    monkeypatch.setattr(xla, "is_installed", lambda: False)
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"]})
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        cluster, task_type="worker", task_id=0
    )
    with pytest.raises(ImportError, match=r'pip install "intaglio\[xla\]"'):
        tf.distribute.MultiWorkerMirroredStrategy(resolver)
