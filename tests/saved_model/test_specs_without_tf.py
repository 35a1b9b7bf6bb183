"""SavedModels whose functions take composite tensors, read by programs that do not import `intaglio.tf`."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from intaglio import tf

READ = """
import sys
from intaglio.saved_model import reader
assert "intaglio.tf" not in sys.modules
root = reader.load(sys.argv[1])
print([type(s).__name__ for name in ("ragged", "sparse") for s in getattr(root, name).input_signature])
"""


def test_ragged_and_sparse_arguments(tmp_path: pathlib.Path) -> None:
    """As tools and servers read them."""
    module = tf.Module()
    module.ragged = tf.function(
        lambda r: tf.reduce_sum(r, axis=1),
        input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)],
    )
    module.sparse = tf.function(
        lambda x: tf.sparse.reduce_sum(x, axis=1),
        input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)],
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    command = [sys.executable, "-W", "ignore", "-c", READ, str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['RaggedTensorSpec', 'SparseTensorSpec']"
