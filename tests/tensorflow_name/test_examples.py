"""The Keras examples learn on Intaglio as on TensorFlow: the same losses, step by step."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import pytest

from tests.tensorflow_name.process import run

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("keras") is None,
    reason="keras is not installed: pip install 'intaglio[keras]'",
)

# Recorded with TensorFlow by `example_losses.py`.
RECORDED = json.loads(
    pathlib.Path(__file__).with_name("example_losses.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", [n for n in RECORDED if n != "by"])
def test_the_first_losses_are_tensorflows(name: str) -> None:
    done = run(["-m", "intaglio", "-m", "tests.tensorflow_name.example_losses", name])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)[name]
    assert len(found) == 20
    assert found == pytest.approx(RECORDED[name], abs=1e-4)


def test_a_whole_example_runs_from_the_command_line() -> None:
    done = run(["-m", "intaglio", "run", "examples/keras_functional_save.py"])
    assert done.returncode == 0, done.stderr
    assert "the loaded models predict the same: True" in done.stdout
