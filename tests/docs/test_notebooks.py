"""The notebooks in examples/ run in a Jupyter kernel and print what they show.

`INTAGLIO_GOLDEN=write` writes what they print into them. Cells that show an error are tagged
`raises-exception`; the cells behind them run on, in the process that IPython formatted it in.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
WRITES = os.environ.get("INTAGLIO_GOLDEN") == "write"

pytest.importorskip("nbclient", reason="notebooks run with nbclient: pip install '.[dev]'")
pytest.importorskip("ipykernel", reason="the kernel is ipykernel: pip install '.[dev]'")
nbformat = pytest.importorskip("nbformat", reason="nbclient brings nbformat")

# In a process of its own: the sockets to a kernel are closed with it.
_EXECUTE = """
import sys
import nbclient, nbformat
notebook = nbformat.reads(sys.stdin.read(), 4)
manager = nbclient.client.KernelManager(kernel_name="python3")
manager.kernel_spec.argv[0] = sys.executable
nbclient.NotebookClient(notebook, km=manager, timeout=120).execute()
sys.stdout.write(nbformat.writes(notebook))
"""


def executed(notebook: Any) -> Any:
    """The notebook as a kernel of this Python leaves it, with this checkout's package."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _EXECUTE],
        input=nbformat.writes(notebook),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return nbformat.reads(done.stdout, 4)


def shown(output: Any) -> tuple[str, str]:
    """The kind of an output, and its text; a cell has another file name in each kernel."""
    if output.output_type == "error":
        return "error", f"{output.ename}: " + re.sub(r'File ".*?"', 'File "<cell>"', output.evalue)
    return output.output_type, output.get("text") or output.get("data", {}).get("text/plain", "")


def joined(cell: Any) -> list[tuple[str, str]]:
    """The outputs of a cell, with adjacent pieces of its stream as one: the kernel flushes them by
    the clock, so a busy machine sends `True` and the newline after it in two messages."""
    pieces: list[tuple[str, str]] = []
    for kind, text in map(shown, cell.outputs):
        if kind == "stream" and pieces and pieces[-1][0] == "stream":
            pieces[-1] = (kind, pieces[-1][1] + text)
        else:
            pieces.append((kind, text))
    return pieces


def outputs(notebook: Any) -> list[list[tuple[str, str]]]:
    return [joined(cell) for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path: pathlib.Path) -> None:
    notebook = nbformat.read(path, 4)
    kept = outputs(notebook)
    done = executed(notebook)
    if WRITES:
        for cell in done.cells:
            cell.metadata.pop("execution", None)
            for output in cell.get("outputs", ()):
                if output.output_type == "error":
                    output.evalue = shown(output)[1].removeprefix(f"{output.ename}: ")
                    output.traceback = [f"{output.ename}: {output.evalue}"]
        nbformat.write(done, path)
        return
    assert outputs(done) == kept
    failing = ["raises-exception" in c.metadata.get("tags", ()) for c in done.cells]
    assert any(failing[:-1]), "one cell shows an error, and others run behind it"


def test_a_long_trace_shows_its_progress() -> None:
    slow = (
        "import time\nfrom intaglio import tf\n@tf.function\ndef slow(x):\n    x = x + 1\n"
        "    time.sleep(3.2)\n    return x\nint(slow(tf.constant(1)))"
    )
    (cell,) = executed(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(slow)])).cells
    (progress, text), result = joined(cell)
    assert progress == "stream" and result == ("execute_result", "2")
    assert "tracing slow: " in text and "time.sleep(3.2)" in text
    assert text.endswith(" \r"), "the line goes when the trace is done"


def test_functions_are_traced_behind_a_displayed_exception() -> None:
    """IPython's formatting of the traceback leaves marks on syntax nodes of all trees."""
    broken = (
        "from intaglio import tf\n@tf.function\ndef f(x):\n    if x > 0:\n        1 / 0\n"
        "    return x\nf(tf.constant(1))"
    )
    works = (
        "@tf.function\ndef g(x):\n    while x < 10 and not x < 0:\n        x = x * 2 if x > 0 else -x\n"
        "    return x\nprint(int(g(tf.constant(1))))"
    )
    cells = [nbformat.v4.new_code_cell(t) for t in (broken, works, "1 / 0", works)]
    for i in (0, 2):
        cells[i].metadata["tags"] = ["raises-exception"]
    done = executed(nbformat.v4.new_notebook(cells=cells))
    first, *rest = outputs(done)
    assert [kind for kind, _ in first] == ["error"]
    assert "ZeroDivisionError" in first[0][1]
    assert rest[0] == rest[2] == [("stream", "16\n")]
