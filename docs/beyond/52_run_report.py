"""One file about a whole run, `INTAGLIO_REPORT=out.html python app.py`: retraces with reasons, stale captures, side effects, time, memory."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
from intaglio import tf

@tf.function
def step(x, lam):
    return x * lam

for lam in (0.25, 0.75):
    step(tf.ones([4]), lam)
"""
with tempfile.TemporaryDirectory() as folder:
    app, out = pathlib.Path(folder, "app.py"), pathlib.Path(folder, "out.json")
    app.write_text(PROGRAM)
    subprocess.run(
        [sys.executable, app],
        env={**os.environ, "INTAGLIO_REPORT": str(out)},
        check=True,
        timeout=120,
    )
    (step,) = json.loads(out.read_text())["functions"]
assert step["traces"] == 2
assert "lam was 0.25, now 0.75: a Python number is part of the trace" in step["retraces"][0]
