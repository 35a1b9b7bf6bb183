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

import numpy as np
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
        kinds = [1.5, 1.5, 1.5]
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


def _trained() -> tuple[list[float], float, list[Any]]:
    """What `compiled.py` gives, computed from whole batches."""
    w, b, steps = np.array([[1.0], [-1.0]]), np.array([0.5]), 0
    data = np.arange(22.0).reshape(11, 2) / 20.0

    def step(x: Any) -> float:
        nonlocal w, b, steps
        error = x @ w + b - 1.0
        w, b = w - 0.02 * x.T @ error, b - 0.02 * error.sum(0)
        steps += 1
        return float((error**2).sum())

    losses = [step(data[at : at + 4]) for at in (0, 4, 8)] + [
        step(data[at : at + 4]) for at in (0, 4, 8)
    ]
    twice = np.concatenate([data[:2], data[:2]])
    repeated = sum([step(twice) / 2 for _ in range(3)])
    return losses, repeated, [w.tolist(), b.tolist(), steps]


def test_compiled_functions_are_one_program_of_both_workers() -> None:
    code, output = launched("compiled.py")
    assert code == 0, output
    losses, repeated, variables = _trained()
    for found in results(output):
        np.testing.assert_allclose(found["losses"], losses, rtol=1e-5)
        np.testing.assert_allclose(found["repeated"], repeated, rtol=1e-5)
        for value, wanted in zip(found["variables"], variables, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-5)
        rows = [[0.0, 0.05], [0.1, 0.15]]
        np.testing.assert_allclose(found["gathered"], rows, rtol=1e-6)
        np.testing.assert_allclose(found["even again"], rows, rtol=1e-6)
        np.testing.assert_allclose(found["uneven"], [rows[0], rows[0], rows[1]], rtol=1e-6)
        assert found["whole"] and found["collectives"]


def test_a_function_that_one_worker_cannot_compile_runs_on_the_hosts_of_both() -> None:
    code, output = launched("unlike.py")
    assert code == 0, output
    total = float(np.tanh(0.5) + np.tanh(1.0))
    for found in results(output):
        np.testing.assert_allclose(found["one cannot"], [total] * 2, rtol=1e-5)
        np.testing.assert_allclose(found["both can"], total, rtol=1e-5)
        np.testing.assert_allclose(found["total"], 3 * total, rtol=1e-5)
        ones, twos = [[1.0]], [[2.0]]
        assert found["known sizes"] == [ones + 2 * twos, 2 * ones + 3 * twos]
        assert found["unlike integers"] == 33.0
        assert found["own error"] == "of this process"


def test_a_worker_that_does_not_come_to_a_sum_is_named() -> None:
    code, output = launched("unlike.py", "late")
    assert code == 0, output
    (found,) = results(output)
    assert found["late"].startswith("worker 1 (127.0.0.1:")
    assert "did not come within 2.0 s" in found["late"]
    assert found["later"] == found["late"]
    # One that returned from XLA while its interpreter is finalized would end the process with SIGABRT.
    assert output.count("threads: ['MainThread']") == 2


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
