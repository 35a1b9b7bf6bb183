"""The pictures of the benchmarks, drawn with matplotlib in an environment of its own.

    path/to/python-with-matplotlib -m benchmarks.pictures data.json

`data.json` has `ratios` (title, own time over the fastest peer's, goal or null) and `curves` (what
grows, then lines of a title and points). Writes ratios.svg and curves.svg beside this file.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

FOLDER = pathlib.Path(__file__).parent
GOOD, BAD, GOAL, INK = "seagreen", "indianred", "black", "black"


def draw(ratios: list[Any], curves: dict[str, Any], python: pathlib.Path) -> None:
    """Has the pictures drawn by an environment with matplotlib."""
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.json"
        data.write_text(json.dumps({"ratios": ratios, "curves": curves}))
        command = [str(python), "-m", "benchmarks.pictures", str(data)]
        subprocess.run(command, check=True, cwd=FOLDER.parent)


def _plain(pyplot: Any) -> None:
    """The same file for the same numbers, with text as text."""
    pyplot.rcParams.update(
        {
            "svg.hashsalt": "benchmarks",
            "svg.fonttype": "none",
            "font.size": 8,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )


def ratios(pyplot: Any, rows: list[Any]) -> Any:
    """A bar for each piece of work: its time, the fastest peer's being 1; less is better."""
    figure, axes = pyplot.subplots(figsize=(8, 0.19 * len(rows) + 0.9))
    positions = range(len(rows) - 1, -1, -1)
    values = [value for _, value, _ in rows]
    colours = [GOOD if value <= 1 else BAD for value in values]
    axes.barh(positions, values, color=colours, height=0.7)
    for position, (_, value, goal) in zip(positions, rows, strict=True):
        axes.text(value * 1.04, position, f"{value:.2g}", va="center", color=INK, size=6)
        if goal:
            axes.plot([goal, goal], [position - 0.42, position + 0.42], color=GOAL, lw=1.2)
    axes.axvline(1, color=INK, lw=0.7)
    axes.set_xscale("log")
    axes.set_yticks(list(positions), [title for title, _, _ in rows], size=6.5)
    axes.set_ylim(-0.8, len(rows) - 0.2)
    axes.set_xlabel("time, that of the fastest peer being 1 (short lines: goals)")
    figure.tight_layout()
    return figure


def curves(pyplot: Any, groups: dict[str, Any]) -> Any:
    """Seconds by size, one picture for each thing that grows; dotted: what is linear."""
    figure, every = pyplot.subplots(1, len(groups), figsize=(3.6 * len(groups), 3.2), squeeze=False)
    for axes, (what, lines) in zip(every[0], groups.items(), strict=True):
        for title, points in lines:
            sizes, seconds = zip(*points, strict=True)
            axes.loglog(sizes, seconds, marker="o", ms=2.5, lw=1.1, label=title)
            last = seconds[-1] / sizes[-1]
            axes.loglog(sizes, [last * s for s in sizes], ls=":", lw=0.6, color="gray")
        axes.set_xlabel(what)
        axes.set_ylabel("seconds")
        axes.legend(frameon=False)
    figure.tight_layout()
    return figure


def main(path: str) -> None:
    """Draws both."""
    importlib.import_module("matplotlib").use("svg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    _plain(pyplot)
    data = json.loads(pathlib.Path(path).read_text())
    for name, make in (("ratios", ratios), ("curves", curves)):
        if data[name]:
            figure = make(pyplot, data[name])
            figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
