"""Runs the libraries' examples on Intaglio and on TensorFlow, and records what they print.

    python -m tests.clients [NAME...]

`CLIENTS_PYTHON` is a Python in whose environment the libraries are installed (this one if unset), and
`TENSORFLOW_PYTHON` one with TensorFlow and the libraries; without it the answers of an earlier run are compared.
Each example runs in a process of its own. Writes `results.json`, of
which `python -m docs.clients` makes docs/clients.md.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

from tests.clients.comparing import same
from tests.clients.libraries import LIBRARIES

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "results.json"
LIMIT_S = 300
# The line of a traceback that names the error.
_ERROR = re.compile(r"[\w.]*(Error|Exception|Exit)\b")


def environment(name: str, ours: bool) -> dict[str, str]:
    """The variables of a run; CLIENTS_PATH names folders of packages for both sides."""
    path = [os.environ.get("CLIENTS_PATH", ""), str(HERE.parents[1]) if ours else ""]
    keras = {"TF_USE_LEGACY_KERAS": "1"} if LIBRARIES[name].keras_2 else {}
    return {
        **os.environ,
        **keras,
        "KERAS_BACKEND": "tensorflow",
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }


# Runs the program after the import of its library, and says how much processor time each took. What
# libraries print when they are imported, about newer versions, say, is left out.
PROGRAM = """
import runpy, sys, threading, time
if sys.argv[3] == "intaglio":
    import intaglio
    intaglio.install_as_tensorflow()
import tensorflow
start = time.process_time()
__import__(sys.argv[2])
imported = time.process_time()
for thread in threading.enumerate():  # one may ask for newer versions
    if thread is not threading.main_thread():
        thread.join(5)
print("IMPORTED", flush=True)
start_program = time.process_time()
runpy.run_path(sys.argv[1], run_name="__main__")
print("SECONDS", start, imported - start, time.process_time() - start_program)
"""


def outcome(name: str, python: str, side: str) -> dict[str, Any]:
    """What the example prints, its error if it has one, and processor seconds: of `import tensorflow`,
    of the import of the library after it, and of the rest.
    """
    program = str(HERE / "examples" / f"{name}_example.py")
    command = [python, "-c", PROGRAM, program, name, side]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
            env=environment(name, side == "intaglio"),
            cwd=tempfile.gettempdir(),
        )
    except subprocess.TimeoutExpired:
        return {"error": f"takes longer than {LIMIT_S} s"}
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if _ERROR.match(line)]
        return {"error": lines[-1][:200] if lines else "no message"}
    lines = done.stdout.splitlines()
    *printed, seconds = lines[lines.index("IMPORTED") + 1 :]
    both = [round(float(s), 1) for s in seconds.split()[1:]]
    return {
        "printed": printed,
        "seconds": dict(zip(("tensorflow", "import", "program"), both, strict=True)),
    }


def main() -> None:
    """The command."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    ours = os.environ.get("CLIENTS_PYTHON", sys.executable)
    theirs = os.environ.get("TENSORFLOW_PYTHON")
    for name in sys.argv[1:] or LIBRARIES:
        before = known.get(name, {})
        row = {"version": LIBRARIES[name].version, "intaglio": outcome(name, ours, "intaglio")}
        row["tensorflow"] = (
            outcome(name, theirs, "tensorflow") if theirs else before.get("tensorflow")
        )
        if "tests" in before:
            row["tests"] = before["tests"]
        answer = row["tensorflow"] or {}
        row["same"] = same(row["intaglio"].get("printed", []), answer.get("printed", []))
        if RESULTS.exists():  # two of these commands may run for different libraries
            known = json.loads(RESULTS.read_text(encoding="utf-8"))
        known[name] = row
        text = json.dumps({n: known[n] for n in sorted(known)}, indent=1, sort_keys=True)
        RESULTS.write_text(text + "\n", encoding="utf-8")
        print(name, "same" if row["same"] else row["intaglio"].get("error", "other numbers"))


if __name__ == "__main__":
    main()
