"""Libraries whose functions AutoGraph does not convert where user code calls them.

One rule, TensorFlow's: a function that is traced is converted, wherever it comes from
(`tf.function(f)`, `tf.autograph.to_graph(f)`). What converted code calls is converted too, but not
functions of these libraries, and so neither the functions that those call: the `call` of a layer
of Keras is Python's, under `fit` as in a function of the user's. `layer.call(x)` in converted code
is converted, and so is a `call` that is a `tf.function` itself.
"""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import Any

_LIBRARIES = frozenset(
    {
        # TensorFlow's own list.
        "PIL", "keras", "matplotlib", "numpy", "pandas", "tensorflow", "tensorflow_probability", "tf_keras",
        # They hold no control flow on tensors: converting them would only take time.
        "absl", "google", "intaglio", "optree", "pytest", "rich", "tqdm",
    }
)  # fmt: skip


def is_library(function: FunctionType) -> bool:
    """True for a function of a library, which is not converted where it is called.

    A wrapper that a library made by `functools.wraps` belongs to the wrapped function's module.
    """
    return (function.__module__ or "").partition(".")[0] in _LIBRARIES


def library_of(names: dict[str, Any]) -> str | None:
    """The library whose module has these names; None if it is none."""
    module: str = names.get("__name__", "")
    package = module.partition(".")[0]
    return package if package in _LIBRARIES else None


def is_one(module: ModuleType) -> bool:
    """True for a module that is not the user's: of a library, or of Python's own."""
    package = module.__name__.partition(".")[0]
    return package in _LIBRARIES or is_standard(package)


def is_standard(package: str) -> bool:
    """True for the name of a module or package of Python's library."""
    return package in sys.stdlib_module_names and package != "__main__"
