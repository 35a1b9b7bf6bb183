"""The page of `examples/web_digits`, built as `make demo` does: its scripts in node, all of it in a browser."""

from __future__ import annotations

import importlib.util
import io
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests.export import browser

HERE = pathlib.Path(__file__).parent
BUILD = HERE.parents[1] / "examples" / "web_digits" / "build.py"
# What the page may weigh, in bytes.
LARGEST = 200_000
SECONDS = 500


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The page, with a network that was trained for a few epochs."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the wheel ziglang is not installed")
    pytest.importorskip("sklearn")
    folder = tmp_path_factory.mktemp("page")
    command = [sys.executable, str(BUILD), str(folder), "--epochs", "12"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return folder / "index.html"


@pytest.mark.targets
def test_the_page_recognises_digits(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    assert page.stat().st_size < LARGEST
    assert "http" not in page.read_text().replace("http-equiv", "")
    data = pytest.importorskip("sklearn.datasets").load_digits()
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


# Strokes on the canvas of 256 x 256: a ring, and a line from top to bottom.
RING = [(128 + 60 * np.sin(a), 128 - 85 * np.cos(a)) for a in np.linspace(0, 2 * np.pi, 33)]
LINE = [(128.0, y) for y in np.linspace(30, 226, 17)]


@pytest.mark.targets
def test_digits_drawn_in_a_browser_are_recognised(
    page: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    chromium = browser.executable()
    if chromium is None:
        pytest.skip(f"no browser is installed: {', '.join(browser.NAMES)}")
    bars = "[...document.querySelectorAll('td.bar div')].map((d) => parseFloat(d.style.width) || 0)"
    with browser.page(chromium, tmp_path) as shown:
        shown.open(page.as_uri())
        shown.wait_for("document.getElementById('drawing').onpointermove !== null")
        corner = shown.value(
            "(({left, top}) => [left, top])(document.getElementById('drawing').getBoundingClientRect())"
        )
        assert shown.value(bars) == [0.0] * 10
        found: dict[int, list[float]] = {}
        pictures: list[bytes] = []
        for digit, stroke in ((0, RING), (1, LINE)):
            shown.value("document.getElementById('clear').click()")
            shown.drag([(corner[0] + x, corner[1] + y) for x, y in stroke])
            found[digit] = shown.value(bars)
            text = shown.value("document.getElementById('message').textContent")
            assert text.startswith(f"{np.argmax(found[digit])}, computed in ")
            pictures.append(shown.screenshot())
    assert {digit: int(np.argmax(widths)) for digit, widths in found.items()} == {0: 0, 1: 1}
    assert all([abs(sum(widths) - 100) < 0.1 for widths in found.values()])
    assert [_blue_pixels(p) > 500 for p in pictures] == [True, True]
    assert pictures[0] != pictures[1]


def _blue_pixels(picture: bytes) -> int:
    """How many pixels of a screenshot have the colour of the bars."""
    with Image.open(io.BytesIO(picture)) as image:
        return int((np.asarray(image.convert("RGB")) == (0x33, 0x66, 0xCC)).all(-1).sum())
