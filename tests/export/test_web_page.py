"""The page of `examples/web_digits`, built as `make demo` does, with its scripts run by node."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
BUILD = HERE.parents[1] / "examples" / "web_digits" / "build.py"
# What the page may weigh, in bytes.
LARGEST = 200_000
SECONDS = 500


@pytest.mark.targets
def test_the_page_recognises_digits(tmp_path: pathlib.Path) -> None:
    node = shutil.which("node")
    if node is None or importlib.util.find_spec("ziglang") is None:
        pytest.skip("node or the wheel ziglang is not installed")
    datasets = pytest.importorskip("sklearn.datasets")
    command = [sys.executable, str(BUILD), str(tmp_path), "--epochs", "12"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    page = tmp_path / "index.html"
    assert page.stat().st_size < LARGEST
    assert "http" not in page.read_text().replace("http-equiv", "")
    data = datasets.load_digits()
    images, labels = data.data[:300] / 16.0, data.target[:300]
    (tmp_path / "images.json").write_text(json.dumps(images.tolist()))
    script = [node, str(HERE / "page.mjs"), str(page), str(tmp_path / "images.json")]
    answers = tmp_path / "answers.json"
    done = subprocess.run([*script, str(answers)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    found = json.loads(answers.read_text())
    straight, drawn = np.moveaxis(np.array(found["results"]), 1, 0)
    np.testing.assert_allclose(straight.sum(1), 1.0, atol=1e-5)
    assert np.mean(straight.argmax(1) == labels) > 0.9
    assert np.mean(drawn.argmax(1) == labels) > 0.6  # centred and scaled anew
    assert not any(found["empty"])
    assert found["description"]["target"] == "wasm32"
