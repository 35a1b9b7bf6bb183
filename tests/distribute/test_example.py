"""The example: eight logical devices and two processes give the losses of one device, within 1e-5."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from intaglio import xla
from tests.distribute import recording

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None,
    reason="scikit-learn is not installed: pip install 'intaglio[examples]'",
)


def losses(*command: str) -> list[list[float]]:
    """The losses that each process of `intaglio COMMAND` prints."""
    line = [sys.executable, "-m", "intaglio", *command]
    done = subprocess.run(line, cwd=recording.ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return [
        [float(loss) for loss in printed.partition("losses:")[2].split()]
        for printed in done.stdout.splitlines()
        if "losses:" in printed
    ]


def test_several_devices_and_processes_compute_what_one_does() -> None:
    script = ("examples/distributed_digits.py", "--steps", "8")
    (one,) = losses("run", *script, "--devices", "1")
    assert len(one) == 5
    (eight,) = losses("run", *script, "--devices", "8")
    assert eight == pytest.approx(one, abs=1e-5)
    if xla.is_installed():
        for found in losses("launch", "-n", "2", *script):
            assert found == pytest.approx(one, abs=1e-5)
