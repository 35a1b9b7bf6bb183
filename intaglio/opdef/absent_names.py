"""Errors for a name that `tf` or one of its namespaces lacks.

`needs.json` has TensorFlow's documented names, each with the op types that it calls; real
TensorFlow wrote it (tests/parity/record_needs.py).
"""

from __future__ import annotations

import json
from pathlib import Path

from intaglio.opdef import raw

_COVERAGE = "docs/coverage.md lists what there is, and what is left out on purpose"
# Namespaces that are not in the table.
_NOT_IN_TABLE = ("compat.v", "estimator", "internal", "keras", "lite", "raw_ops", "tpu")


def advice(module: str, name: str) -> str:
    """The end of the message of an AttributeError."""
    space = module.removeprefix("intaglio.tf").removeprefix(".")
    public = f"{space}.{name}" if space else name
    if public.startswith(_NOT_IN_TABLE) or name.startswith("_"):
        return f": {_COVERAGE}"
    table = json.loads(Path(__file__).with_name("needs.json").read_text("utf-8"))
    if public not in table and not any(n.startswith(f"{public}.") for n in table):
        return f": TensorFlow 2.21 documents no tf.{public} either; {_COVERAGE}"
    missing = [op for op in table.get(public, "").split() if raw.find(op) is None]
    need = f", which would need the op types {', '.join(missing)}" if missing else ""
    return f": Intaglio has no tf.{public}{need}; {_COVERAGE}"
