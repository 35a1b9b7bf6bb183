"""Runs snippets of user code, here and on TensorFlow, and keeps what comes of them.

A file of `snippets/` holds small programs divided by blank lines; lines that begin with
`##` are headings. A program uses `tf` and `np`. What it gives is the text of its last
expression, what it printed (also from below Python), and its error. Recording:

    path/to/python-with-tensorflow -m tests.parity.snippets [file ...]

from the repository's root writes snippets/<file>.json.
"""

from __future__ import annotations

import ast
import json
import linecache
import os
import sys
import tempfile
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "snippets"


def programs(name: str) -> list[str]:
    """The programs of a file."""
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    text = "\n".join([line for line in lines if not line.startswith("##")])
    return [p.strip("\n") for p in text.split("\n\n") if p.strip()]


def answers(name: str) -> dict[str, Any]:
    """TensorFlow's recorded answers by program."""
    return json.loads((FOLDER / f"{name}.json").read_text())


@contextmanager
def printed() -> Iterator[list[str]]:
    """Collects what the block writes to standard output and error, in a list of one text."""
    result: list[str] = []
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    streams = sys.stdout, sys.stderr
    with tempfile.TemporaryFile() as file:
        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
            yield result
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            sys.stdout, sys.stderr = streams
            for fd, old in zip((1, 2), kept, strict=True):
                os.dup2(old, fd)
                os.close(old)
            file.seek(0)
            result.append(file.read().decode())


def run(program: str, tf: Any) -> dict[str, str]:
    """What comes of a program: `value`, `printed` and `error`, those there are."""
    import numpy as np

    lines = program.splitlines(keepends=True)
    linecache.cache["<snippet>"] = (len(program), None, lines, "<snippet>")
    tree = ast.parse(program)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    module = sys.modules["snippet"] = types.ModuleType("snippet")
    space: dict[str, Any] = module.__dict__
    space.update(tf=tf, np=np)
    found: dict[str, str] = {}
    with printed() as output:
        try:
            exec(compile(tree, "<snippet>", "exec", dont_inherit=True), space)
            if isinstance(last, ast.Expr):
                text = ast.Expression(last.value)
                code = compile(text, "<snippet>", "eval", dont_inherit=True)
                found["value"] = repr(eval(code, space))
        except Exception as e:
            found["error"] = f"{type(e).__name__}: {e}"
    if output[0]:
        found["printed"] = output[0]
    return found


def main(names: list[str]) -> None:
    """Records TensorFlow's answers."""
    import tensorflow as tf

    for name in names or sorted(p.stem for p in FOLDER.glob("*.txt")):
        table = {program: run(program, tf) for program in programs(name)}
        text = json.dumps({"_tensorflow": tf.__version__, **table}, indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n")
        print(f"{name}: {len(table)} answers")


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(sys.argv[1:])
