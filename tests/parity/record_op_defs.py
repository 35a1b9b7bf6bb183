"""Writes down what TensorFlow's op declarations say of the ops we have: `op_defs.json`.

Runs where real TensorFlow is installed, and nowhere else:

    python tests/parity/record_op_defs.py NAME [NAME ...] > tests/parity/op_defs.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import op_def_registry


def declaration(name: str) -> dict[str, Any] | None:
    """Attributes with their kinds, names of inputs and outputs, statefulness."""
    found = op_def_registry.get(name)
    if found is None:
        return None
    return {
        "attrs": {a.name: a.type.replace("string", "str") for a in found.attr},
        "inputs": [a.name for a in found.input_arg],
        "outputs": [a.name for a in found.output_arg],
        "stateful": found.is_stateful,
    }


def main() -> None:
    """Prints the declarations."""
    ops = {name: declaration(name) for name in sorted(sys.argv[1:])}
    print(
        json.dumps({"tensorflow": tf.__version__, "ops": ops}, sort_keys=True).replace(
            "}, ", "},\n"
        )
    )


if __name__ == "__main__":
    main()
