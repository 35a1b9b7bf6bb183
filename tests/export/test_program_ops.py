"""Ops that a program declares: their expressions are exported, and an op without one is named."""

from __future__ import annotations

import pathlib
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.export.programs import SECONDS, CProgram, within_ulps

# A process of its own: the catalogue of the tests has no ops of theirs.
PROGRAM = '''
import pickle, sys
import numpy as np
import intaglio
from intaglio import tf
from intaglio.base.dtypes import FLOATING
from intaglio.opdef import raw
from intaglio.opdef.op import op
from intaglio.ops.families import Unary

@op
class GatedOnce(Unary):
    """x / (1 + exp(-x)), towards zero where it is large."""
    T = FLOATING
    computes_wide = True
    def scalar(self, s, x):
        one = s.const(1, like=x)
        y = s.div(x, s.add(one, s.exp(s.neg(x))))
        return s.select(s.gt(s.abs(y), one), s.trunc(y), y)

@op
class GatedTwice(Unary):
    """GatedOnce of GatedOnce."""
    T = FLOATING
    def decompose(self, x):
        return raw.GatedOnce(raw.GatedOnce(x))
    def kernel(self, x):
        for _ in range(2):
            y = x / (1 + np.exp(-x))
            x = np.where(np.abs(y) > 1, np.trunc(y), y)
        return x

@op
class OnlyInPython(Unary):
    """2 x."""
    T = FLOATING
    def kernel(self, x):
        return x + x

@tf.function(input_signature=[tf.TensorSpec([9], name="x"), tf.TensorSpec([], tf.int32, name="n")])
def f(x, n):
    for _ in tf.range(n):
        x = raw.GatedTwice(3.0 * x)
    return {"x": x, "half": raw.GatedOnce(tf.cast(x, tf.float16))}

folder = sys.argv[1]
library = intaglio.export_library(f, folder + "/model", kinds=["object"])
x = np.linspace(-3, 3, 9, dtype=np.float32)
expected = {k: v.numpy() for k, v in f(x, 2).items()}
with open(folder + "/found", "wb") as file:
    pickle.dump((library, {"x": x, "n": np.int32(2)}, expected), file)
g = tf.function(raw.OnlyInPython).get_concrete_function(tf.TensorSpec([2]))
try:
    intaglio.export_library(g, folder + "/other", kinds=[])
except intaglio.ExportError as e:
    print(e)
'''


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_ops_of_the_program(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    command = [sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert "OnlyInPython 'OnlyInPython'" in done.stdout
    assert "is an op of the program, which has no code in a library" in done.stdout
    library, arguments, expected = pickle.loads((tmp_path / "found").read_bytes())
    ((found,), _) = CProgram(library, ["run"], tmp_path).run(arguments)
    assert np.abs(expected["x"]).max() > 1
    for name, value in expected.items():
        within_ulps(found[name], value)
