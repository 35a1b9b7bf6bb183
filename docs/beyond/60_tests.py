"""Nothing is compiled or logged at installation and import; functions are typed and pickled; a plugin for pytest counts traces."""

import os
import pathlib
import subprocess
import sys
import tempfile

TEST = """
import pickle
import pytest
from intaglio import tf
from intaglio.insight.assertions import assert_graph_ops, assert_no_retrace, assert_traces

@tf.function
def f(x):
    return tf.matmul(x, x) + 1.0

def test_traces():
    f(tf.ones([2, 2]))
    f(tf.zeros([2, 2]))
    assert_traces(f, 1)
    assert_graph_ops(f, MatMul=1)
    with assert_no_retrace():
        f(tf.ones([2, 2]))
    with pytest.raises(AssertionError, match="shape"):
        with assert_no_retrace():
            f(tf.ones([3, 3]))
    assert pickle.loads(pickle.dumps(f)) is f
"""
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "test_program.py").write_text(TEST)
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env=dict(os.environ),
    )
assert found.returncode == 0, found.stdout
quiet = subprocess.run(
    [sys.executable, "-c", "from intaglio import tf; tf.constant(1)"],
    capture_output=True,
    check=True,
    timeout=120,
)
assert quiet.stdout == quiet.stderr == b""
