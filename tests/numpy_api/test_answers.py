"""Calls give what TensorFlow 2.21 gave: see record.py."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from intaglio import tf
from intaglio.numpy_api import np_config
from tests.numpy_api import record
from tests.printing import as_printed

ANSWERS = json.loads((record.HERE / "answers.json").read_text())
TABLES = json.loads((record.HERE / "promotion.json").read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("numpy_behavior")
@pytest.mark.parametrize("call", record.calls())
def test_call(call: str) -> None:
    kind, text = ANSWERS[call]
    got, mine = record.answer(call, tf)
    assert got == kind, (mine, text)
    if kind == "value":
        assert _plain(mine) == _plain(as_printed(text))


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"0x[0-9a-f]+", "0x", text))


@pytest.mark.parametrize("mode", TABLES)
def test_promotion(mode: str) -> None:
    """The types of all sums of two types, in both modes and with float32 preferred."""
    name, preferred = mode.split()
    tnp = tf.experimental.numpy
    tnp.experimental_enable_numpy_behavior(preferred == "True", name)
    try:
        mine = record.table(tf)
    finally:
        np_config.disable_numpy_behavior()
    wrong = {
        key: [pair for pair in zip(row, mine[key], strict=True) if pair[0] != pair[1]]
        for key, row in TABLES[mode].items()
    }
    assert not {key: pairs for key, pairs in wrong.items() if pairs}


def test_program() -> None:
    """A whole program prints what it printed with TensorFlow."""
    start = (
        "import runpy, sys, intaglio; intaglio.install_as_tensorflow(); runpy.run_path(sys.argv[1])"
    )
    file = record.HERE / "program.py"
    run = subprocess.run(
        [sys.executable, "-c", start, str(file)], capture_output=True, text=True, check=True
    )
    assert run.stdout == (record.HERE / "program.out").read_text()
