"""Draws the pictures of the pages: HTML of Intaglio's objects, as a browser shows it in both colour schemes.

python -m docs.pictures [FOLDER]     writes the pages to FOLDER (build/pictures), and
                                     docs/images/NAME-light.png and -dark.png if chromium is there
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
from PIL import Image

import intaglio
from intaglio import tf
from intaglio.insight.html import html_of

ROOT = pathlib.Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Chromium's numbers for the reader's colour scheme.
SCHEMES = {"dark": 0, "light": 1}
SIZES = {"explanation": (1100, 240), "graph": (1100, 620), "report": (1100, 760)}

COLOURS = 48  # of a picture: text and a few areas

weights = tf.Variable(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3), name="weights")


class Mixing:
    """What the step of the page reads of Python's state."""

    steps, smoothing = 0, 0.1


mixing = Mixing()


@tf.function
def train_cutmix_image(images, target_a, target_b, lam):
    mixing.steps += 1
    logits = images @ weights
    loss_a = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target_a, logits=logits)
    loss_b = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target_b, logits=logits)
    return tf.reduce_mean(loss_a * lam + loss_b * (1.0 - lam)) * (1.0 - mixing.smoothing)


def contents() -> Mapping[str, str]:
    """The pages by name."""
    images, target_a, target_b = tf.ones([2, 4]), tf.constant([0, 1]), tf.constant([1, 2])
    with intaglio.captures("freeze"), intaglio.profile() as times:
        for _ in range(40):
            for lam in (1.0, 0.765625, 0.90625, 0.6875):
                train_cutmix_image(images, target_a, target_b, lam)
    mixing.smoothing = 0.2
    report = intaglio.report(times)
    report.command = "train.py"
    return {
        "explanation": html_of(train_cutmix_image.explain()),
        "graph": train_cutmix_image.graph("ops")._repr_html_(),
        "report": report._repr_html_(),
    }


def page(fragment: str) -> str:
    """A page with a fragment, in the colours of the reader's scheme."""
    style = (
        ":root{color-scheme:light dark} body{margin:16px;font:14px sans-serif}"
        "@media(prefers-color-scheme:dark){body{background:#14181d;color:#dde3ea}}"
    )
    return f'<!doctype html><meta charset="utf-8"><style>{style}</style><body>{fragment}'


def photographed(browser: str, source: pathlib.Path, scheme: str, size: tuple[int, int]) -> None:
    """Writes what a browser shows of a page."""
    IMAGES.mkdir(exist_ok=True)
    subprocess.run(
        [
            browser,
            *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
            f"--window-size={size[0]},{size[1]}",
            f"--screenshot={IMAGES / f'{source.stem}-{scheme}.png'}",
            source.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    path = IMAGES / f"{source.stem}-{scheme}.png"
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def main(folder: pathlib.Path) -> int:
    """Writes the pages and, with a browser, the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    for name, fragment in contents().items():
        source = folder.resolve() / f"{name}.html"
        source.write_text(page(fragment), encoding="utf-8")
        for scheme in SCHEMES if browser else ():
            photographed(browser or "", source, scheme, SIZES[name])
        print(f"drew {name}" if browser else f"wrote {source}; there is no browser")
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/pictures")))
