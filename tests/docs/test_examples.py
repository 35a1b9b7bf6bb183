"""The small programs of examples/ run as they are, and print what they are expected to."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
# By program: parts of what it prints. Others of the folder are those of `tests/tensorflow_name`.
PRINTED = {
    "augmentation": ["(6, 8, 8, 1) float32 equal in both epochs: True"],
    "game_of_life": ["....#.......\n.....#......\n...###......", "shifted by two: True"],
    "gaussian_process": ["predicted [ 0.7  0.6 -0.8]"],
    "kalman_filter": ["speed 0.49 (0.50)"],
    "logistic_regression": ["100% right, 1 trace"],
    "mandelbrot": ["-@@@@@@@@@@"],
    "newton": [
        "x = 1.004169, y = -1.729637 after 5 steps",
        "NotConverged: still off after 2 steps",
    ],
    "option_price": ["(5.91 in closed form)", "(0.443)"],
    "pagerank": ["c=0.378 a=0.364 b=0.185 d=0.043 e=0.030 after 27"],
    "pendulum": ["1000 steps, energy drifts by 1.9e-07"],
    "why_retraced": ["times was 1, now 2", "self.rate: 0.5 -> 0.25", "wrote report.html"],
    "word_counts": ["the 4\nplate 3\nis 2"],
}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example(name: str, tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for text in PRINTED[name]:
        assert text in done.stdout
