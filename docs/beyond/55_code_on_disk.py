"""Compiled code is kept on disk under a name that follows from all that it depends on: another process compiles nothing; the folder has a limit and commands."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
from intaglio import tf

@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_sum(tf.{function}(x) * 2.0)

print(float(f(tf.ones([64]))))
"""


def files(folder):
    return {p.name: p.stat().st_ino for p in pathlib.Path(folder, "cache").iterdir()}


with tempfile.TemporaryDirectory() as folder:
    env = {**os.environ, "INTAGLIO_CACHE": str(pathlib.Path(folder, "cache"))}

    def run(*command, **options):
        found = subprocess.run(
            [sys.executable, *command],
            env=env,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            **options,
        )
        return found.stdout

    def program(function):
        return run("-", input=PROGRAM.format(function=function))

    first = program("tanh")
    kept = files(folder)
    assert kept
    assert program("tanh") == first and files(folder) == kept  # nothing was compiled
    assert program("exp") != first and files(folder).keys() > kept.keys()  # other code, other file
    shown = json.loads(run("-m", "intaglio", "cache", "ls", "--json"))
    assert shown["files"] == len(files(folder)) and shown["bytes"] > 0
    assert "INTAGLIO_CACHE" in run("-m", "intaglio", "cache", "explain")
    run("-m", "intaglio", "cache", "clear")
    assert not files(folder)
