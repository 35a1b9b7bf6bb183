"""`tf.keras` and its short names: Keras 3 as PyPI has it, running on Intaglio."""

from __future__ import annotations

import os
import sys
from typing import Any

from intaglio.base import later
from intaglio.tensorflow_name.names import install_as_tensorflow

_KERAS = "keras._tf_keras.keras"
_MISSING = (
    "tf.keras is Keras 3, which is not installed: pip install 'intaglio[keras]' (or "
    "pip install keras)."
)


def load() -> Any:
    """Keras, with Intaglio as its TensorFlow.

    Raises ImportError if it is not installed, or was imported with another backend.
    """
    install_as_tensorflow()
    if "keras" not in sys.modules:
        os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    try:
        keras = later.named(_KERAS)
    except ModuleNotFoundError as cause:
        if (cause.name or "").partition(".")[0] != "keras":
            raise
        raise ImportError(_MISSING, name="keras") from cause
    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise ImportError(
            f"tf.keras needs Keras with its TensorFlow backend, and here it runs on {backend!r}: "
            "set KERAS_BACKEND=tensorflow, or leave it out, before Keras is imported.",
            name="keras",
        )
    return keras


def __getattr__(name: str) -> Any:
    if name == "keras":
        return load()
    if name in ("initializers", "losses", "metrics", "optimizers"):
        return getattr(load(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
