"""What looking costs, and what is always on: guards on captured values, profiles, pictures, reports.

    python -m benchmarks.insight [--write]

With `--write` the tables go to insight.md. The times with and without alternate; see `guards` and `profiles`.
"""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import guards, profiles
from intaglio import tf

ROOT = pathlib.Path(__file__).parents[1]
PAGE = pathlib.Path(__file__).parent / "insight.md"
EXAMPLE = ROOT / "examples" / "cutmix_digits.py"
NODES = 5000
HEAD = """# What looking costs

`python -m benchmarks.insight --write` on {date}, CPython {python}, {processors} processors that other work shares.

"""


@tf.function
def chain(x: Any) -> Any:
    """Some 5,000 nodes."""
    for _ in range(NODES // 6):
        x = tf.tanh(tf.nn.relu(x) * 2.0 + 1.0)
    return x


def pictures() -> Iterator[str]:
    """The time of the processor that a picture of 5,000 nodes takes, by what a box is."""
    trace = chain.get_concrete_function(tf.TensorSpec([4]))
    yield "| `f.graph()` | nodes | time | characters |\n| --- | ---: | ---: | ---: |"
    shown: list[tuple[str, Callable[[], str]]] = [
        ("a box for each line", lambda: chain.graph(level="lines").svg),
        ("a box for each op", lambda: chain.graph(level="ops").svg),
        ("a page of all levels", lambda: chain.graph().html),
    ]
    for name, draw in shown:
        times: list[float] = []
        for _ in range(3):
            start = time.process_time()
            text = draw()
            times.append(time.process_time() - start)
        nodes = len(trace.graph.nodes)
        yield f"| {name} | {nodes} | {statistics.median(times):.2f} s | {len(text)} |"


def report() -> Iterator[str]:
    """The CutMix example with a report of the run and without: time of the processor, and the file."""
    yield "| `examples/cutmix_digits.py` | time | report |\n| --- | ---: | --- |"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "run.html")
        for name, added in (("plain", {}), ("INTAGLIO_REPORT=run.html", {"INTAGLIO_REPORT": path})):
            before = os.times()
            subprocess.run(
                [sys.executable, "-m", "intaglio", "run", str(EXAMPLE)],
                env={**os.environ, **{k: str(v) for k, v in added.items()}},
                check=True,
                capture_output=True,
                cwd=folder,
            )
            after = os.times()
            took = sum(after[2:4]) - sum(before[2:4])  # children's
            size = f"{path.stat().st_size} bytes" if added else ""
            yield f"| {name} | {took:.1f} s | {size} |"


def sections() -> Iterator[str]:
    """The page's sections."""
    yield "## Guards on captured values\n\n" + "\n".join(guards.rows())
    yield "## Profiles\n\n" + "\n".join(profiles.rows())
    yield "## Pictures\n\n" + "\n".join(pictures())
    yield "## Reports\n\n" + "\n".join(report())


def main() -> None:
    """Prints or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    parts: list[str] = []
    for part in sections():
        print(part, end="\n\n", flush=True)
        parts.append(part)
    if options.write:
        head = HEAD.format(
            date=datetime.date.today().isoformat(),
            python=platform.python_version(),
            processors=os.cpu_count(),
        )
        PAGE.write_text(head + "\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
