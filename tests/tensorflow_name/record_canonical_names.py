"""Records TensorFlow's canonical name of each public function and class, by asking it.

    path/to/python-with-tensorflow -m tests.tensorflow_name.record_canonical_names

Writes `intaglio/tensorflow_name/canonical_names.json`: of the names that a symbol has, the one that Keras 2
writes into the configuration of models. Symbols of TensorFlow 1 alone begin with "compat.v1.".
"""

from __future__ import annotations

import inspect
import json
import pathlib
from typing import Any

TABLE = pathlib.Path(__file__).parents[2] / "intaglio" / "tensorflow_name" / "canonical_names.json"
_LEFT_OUT = ("keras", "python", "core", "estimator", "raw_ops")
_DEEPEST = 5


def walk(module: Any, depth: int, canonical: Any, found: set[str], seen: set[int]) -> None:
    """Adds the names of the symbols of a namespace and of those in it."""
    for name in dir(module):
        if (name.startswith("_") and name != "__operators__") or name in _LEFT_OUT:
            continue
        try:
            value = getattr(module, name)
            dir(value)
        except Exception:  # what cannot be imported here
            continue
        if inspect.ismodule(value):
            if id(value) not in seen and depth < _DEEPEST:
                seen.add(id(value))
                walk(value, depth + 1, canonical, found, seen)
        elif callable(value):
            known = canonical(value, add_prefix_to_v1_names=True)
            if known and not known.startswith("raw_ops"):
                found.add(known)


def main() -> None:
    """The command."""
    import tensorflow as tf
    from tensorflow.python.util import tf_export

    found: set[str] = set()
    walk(tf, 0, tf_export.get_canonical_name_for_symbol, found, set())
    TABLE.write_text(json.dumps(sorted(found), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
