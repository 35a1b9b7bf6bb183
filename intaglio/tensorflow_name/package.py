"""`tf.keras` and its short names: Keras as PyPI has it, running on Intaglio.

It is Keras 3, the package `keras`. Programs that set `TF_USE_LEGACY_KERAS=1` get Keras 2, the package
`tf_keras`, with its names of TensorFlow 1 as `tf.compat.v1.keras`.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any

from intaglio.base import later
from intaglio.tensorflow_name.names import install_as_tensorflow

_KERAS = "keras._tf_keras.keras"
_KERAS_2 = "tf_keras.api._v2.keras"
_KERAS_2_OLD_NAMES = "tf_keras.api._v1.keras"
_MISSING = (
    "tf.keras is Keras 3, which is not installed: pip install 'intaglio[keras]' (or "
    "pip install keras)."
)
_MISSING_2 = (
    "Keras 2 requires the `tf_keras` package be installed, and it is what tf.keras is where "
    "TF_USE_LEGACY_KERAS=1 is set. Install it with `pip install tf_keras`, or leave the environment "
    "variable out for Keras 3."
)


def wants_keras_2() -> bool:
    """True if the environment asks for Keras 2 under the name `tf.keras`."""
    return os.environ.get("TF_USE_LEGACY_KERAS") in ("1", "true", "True")


def load() -> Any:
    """Keras, with Intaglio as its TensorFlow.

    Raises ImportError if it is not installed, or was imported with another backend.
    """
    if wants_keras_2():
        return _installed("tf_keras", _KERAS_2, _MISSING_2)
    if "keras" not in sys.modules:
        os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    keras = _installed("keras", _KERAS, _MISSING)
    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise ImportError(
            f"tf.keras needs Keras with its TensorFlow backend, and here it runs on {backend!r}: "
            "set KERAS_BACKEND=tensorflow, or leave it out, before Keras is imported.",
            name="keras",
        )
    return keras


def load_old_names() -> Any:
    """`tf.compat.v1.keras`: Keras 2's names for TensorFlow 1, or Keras 3, which has one set of names.

    Raises ImportError as `load` does.
    """
    if wants_keras_2():
        return _installed("tf_keras", _KERAS_2_OLD_NAMES, _MISSING_2)
    return load()


class _NotOfKeras3(types.ModuleType):
    """A namespace of Keras 2 where Keras is Keras 3: no name is there."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"`{name}` is not available with Keras 3.")


def load_old_layers(name: str) -> Any:
    """`tf.compat.v1.layers` and `tf.compat.v1.nn.rnn_cell`: of Keras 2, and empty with Keras 3."""
    if wants_keras_2():
        return getattr(load_old_names().__internal__.legacy, name)
    return _NotOfKeras3(f"tensorflow.compat.v1.{name}")


def _installed(package: str, module: str, missing: str) -> Any:
    """The module of a package that need not be installed. Raises ImportError with the message."""
    install_as_tensorflow()
    try:
        return later.named(module)
    except ModuleNotFoundError as cause:
        if (cause.name or "").partition(".")[0] != package:
            raise
        raise ImportError(missing, name=package) from cause


def __getattr__(name: str) -> Any:
    if name == "keras":
        return load()
    if name == "keras_of_v1":
        return load_old_names()
    if name in ("layers", "rnn_cell"):
        return load_old_layers(name)
    if name in ("initializers", "losses", "metrics", "optimizers"):
        return getattr(load(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
