"""The example: a transformer that is trained where the program says, and writes."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*options: str) -> str:
    """What `intaglio run examples/gpu_transformer.py` prints."""
    line = [sys.executable, "-m", "intaglio", "run", "examples/gpu_transformer.py", *options]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_loss_falls_and_text_is_written() -> None:
    printed = run("--steps", "40", "--device", "/CPU:0")
    assert "on /job:localhost/replica:0/task:0/device:CPU:0" in printed
    losses = [float(v) for v in re.findall(r"loss (\d+\.\d+)", printed)]
    assert len(losses) == 6
    assert losses[-1] < 0.65 * losses[0]
    _, _, written = printed.partition("ms each step\n")
    assert len(written) >= 3 * 48  # the beginning that it is given, and what it adds


def test_the_same_seed_writes_the_same() -> None:
    first, second = [run("--steps", "3", "--device", "/CPU:0", "--seed", "2") for _ in range(2)]
    times = re.compile(r"[\d.]+ ms")
    assert times.sub("", first) == times.sub("", second)
