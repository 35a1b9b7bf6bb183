"""Writes down TensorFlow's documented public names and their parameters: `api_symbols.txt`.

Runs where real TensorFlow is installed, and nowhere else:

    python tests/parity/record_api.py > tests/parity/api_symbols.txt

A line is `tf.math.add(x, y, name)` for a function, `tf.Module` for a class, `tf.newaxis =` for a
constant. `compat`, `lite`, `tpu` and `estimator` are left out.
"""

from __future__ import annotations

import inspect
import types

import tensorflow as tf

LEFT_OUT = (
    "compat",
    "lite",
    "tpu",
    "estimator",
    "keras",
    "initializers",
    "losses",
    "metrics",
    "optimizers",
)


def parameters(function: object) -> str:
    """The names a function takes, or nothing if Python cannot determine them."""
    try:
        return ", ".join(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""


def walk(module: types.ModuleType, path: str, seen: set[int], lines: set[str]) -> None:
    """Adds the lines of a module and of those below it."""
    for name in sorted(dir(module)):
        if name.startswith("_") or (path == "tf" and name in LEFT_OUT) or name == "python":
            continue
        try:
            value = getattr(module, name)
        except (ImportError, AttributeError):
            continue
        full = f"{path}.{name}"
        if isinstance(value, types.ModuleType):
            public = "_api" in value.__name__ or value.__name__ == f"tensorflow.{name}"
            if "tensorflow" in value.__name__ and public and id(value) not in seen:
                walk(value, full, seen | {id(value)}, lines)
        elif inspect.isclass(value):
            lines.add(full)
        elif callable(value):
            lines.add(f"{full}({parameters(value)})")
        else:
            lines.add(f"{full} =")


def main() -> None:
    """Prints the lines."""
    lines: set[str] = set()
    walk(tf, "tf", {id(tf)}, lines)
    print(f"# TensorFlow {tf.__version__}: {len(lines)} public names")
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
