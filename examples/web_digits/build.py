"""Builds a page that recognises digits as they are drawn: the network of `cutmix_digits.py` as WebAssembly.

    python examples/web_digits/build.py FOLDER [--epochs N]      (make demo)

writes `FOLDER/index.html`, with the module and its weights in it: the page needs no server. Open it
in a browser.
"""

from __future__ import annotations

import argparse
import base64
import pathlib
import sys
from typing import Any

import intaglio

HERE = pathlib.Path(__file__).parent


def network(epochs: int) -> tuple[Any, float]:
    """The trained network as a function of one image, and its accuracy on images that were held out."""
    intaglio.install_as_tensorflow()
    sys.path.insert(0, str(HERE.parent))
    import cutmix_digits
    import tensorflow as tf

    images, labels, held_images, held_labels = cutmix_digits.digits(0)
    net = cutmix_digits.train(images, labels, epochs, 0)

    @tf.function(input_signature=[tf.TensorSpec([1, 8, 8, 1], tf.float32, name="image")])
    def probabilities(image):
        return {"probabilities": tf.nn.softmax(net(image))}

    return probabilities, cutmix_digits.accuracy(net, held_images, held_labels)


def page(module: bytes) -> str:
    """The page with a module in it."""
    text = (HERE / "page.html").read_text(encoding="utf-8")
    script = (HERE / "digits.js").read_text(encoding="utf-8")
    encoded = base64.b64encode(module).decode()
    return text.replace("//DIGITS//", script).replace("//WASM//", encoded)


def build(folder: pathlib.Path, epochs: int) -> tuple[pathlib.Path, float]:
    """Writes the page; gives its path and the accuracy of the network."""
    probabilities, accuracy = network(epochs)
    made = intaglio.export_library(
        probabilities, folder / "digits", target="wasm32", kinds=["shared"]
    )
    path = folder / "index.html"
    path.write_text(page(made.paths["shared"].read_bytes()), encoding="utf-8")
    return path, accuracy


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=30)
    options = parser.parse_args()
    path, accuracy = build(options.folder, options.epochs)
    print(f"{path}: {path.stat().st_size} bytes; {accuracy:.1%} of held out images are right")


if __name__ == "__main__":
    main()
