"""What a retained trace costs in memory: functions of two ops, called three times each.

python -m benchmarks.memory intaglio|tensorflow    prints bytes for each
"""

from __future__ import annotations

import gc
import importlib
import os
import pathlib
import subprocess
import sys
from typing import Any

from benchmarks import peers

# Functions created before the measurement, and during it.
FIRST, COUNT = 60, 200


def resident() -> int:
    """The bytes of this process that are in memory."""
    gc.collect()
    pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def per_trace(tf: Any) -> float:
    """Bytes for each function."""
    kept: list[Any] = []
    x = tf.ones([2, 2])
    start = 0
    for number in range(FIRST + COUNT):
        if number == FIRST:
            start = resident()
        function = tf.function(lambda x, n=number: x * (2.0 + n) + 1.0, autograph=False)
        for _ in range(3):
            function(x)
        kept.append(function)
    return (resident() - start) / COUNT


def measured(names: list[str]) -> dict[str, float]:
    """library -> bytes for each trace, where the processes report it."""
    found: dict[str, float] = {}
    for name in ("intaglio", "tensorflow"):
        python = peers.python_of(name)
        if name not in names or python is None or not sys.platform.startswith("linux"):
            continue
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
        run = subprocess.run(
            [str(python), "-m", "benchmarks.memory", name],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        found[name] = float(run.stdout.split()[-1])
    return found


def line(found: dict[str, float], goal: float) -> str:
    """The row of the page."""
    own, other = found["intaglio"], found.get("tensorflow")
    others = f"tensorflow {other / 1e3:.3g} KB" if other else ""
    ratio = f"{own / other:.3f}" if other else ""
    return f"| memory of a retained trace of 2 ops | {own / 1e3:.3g} KB | {others} | {ratio} | {ratio} | {goal} |"


if __name__ == "__main__":
    module = {"intaglio": "intaglio.tf"}.get(sys.argv[1], sys.argv[1])
    print(per_trace(importlib.import_module(module)))
