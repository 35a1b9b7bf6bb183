"""What a session reports: the node, and the line that recorded it. TensorFlow 2.21 was asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1


def test_the_node_and_its_line() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.int32, [None], name="x")
        rows = tf.gather(tf.constant([1, 2, 3]), x, name="rows")
        with pytest.raises(tf.errors.InvalidArgumentError) as failed:
            session.run(rows, {x: [7]})
        with pytest.raises(tf.errors.InvalidArgumentError) as unfed:
            session.run(rows)
    lines = failed.value.message.split("\n")
    assert lines[:3] == [
        "Graph execution error:",
        "",
        "Detected at node 'rows' defined at (most recent call last):",
    ]
    assert lines[-4].endswith("in test_the_node_and_its_line")
    assert lines[-3:] == ["Node: 'rows'", "indices[0] = 7 is not in [0, 3)", "\t [[{{node rows}}]]"]
    assert failed.value.op is rows.op
    assert failed.value.node_def.name == "rows"
    assert "Detected at node 'x'" in unfed.value.message
    assert "You must feed a value for placeholder tensor 'x'" in unfed.value.message


def test_lines_of_a_program_that_the_command_runs(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorflow as tf\n"
        "with tf.Graph().as_default(), tf.compat.v1.Session() as session:\n"
        "    rows = tf.gather([1], [3])\n"
        "    try:\n"
        "        session.run(rows)\n"
        "    except tf.errors.InvalidArgumentError as e:\n"
        "        print(e.message)\n"
    )
    command = [sys.executable, "-m", "intaglio", "run", str(program)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [line.strip() for line in printed.splitlines() if line.startswith("    File ")]
    assert found == [f'File "{program}", line 3, in <module>']


@pytest.mark.parametrize("vocabulary", [False, True])
def test_tables_are_empty_until_their_initializer_runs(vocabulary: bool) -> None:
    with tf.Graph().as_default():
        words = tf.lookup.KeyValueTensorInitializer(["a", "b"], np.array([0, 1], np.int64))
        if vocabulary:
            table = v1.lookup.StaticVocabularyTable(words, 2)
        else:
            table = v1.lookup.StaticHashTable(words, -1)
        found, size = table.lookup(tf.constant(["b"])), table.size()
        fill = v1.tables_initializer()
        with v1.Session() as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
                session.run(found)
            assert session.run(size) == (2 if vocabulary else 0)
            session.run(fill)
            session.run(fill)
            assert session.run(found).tolist() == [1]
        with v1.Session() as session:
            session.run(table.initializer)
            assert session.run(found).tolist() == [1]
