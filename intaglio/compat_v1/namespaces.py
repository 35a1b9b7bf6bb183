"""The namespaces of `tf.compat.v1`: most names are those of TensorFlow 2.

`same_names.json` has the names that are one object in both (TensorFlow wrote it:
tests/tensorflow_name/record_private_names.py). `OWN` has the others: functions whose parameters
are TensorFlow 1's, and what TensorFlow 2 lacks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from intaglio.base.namespaces import Namespaces
from intaglio.compat_v1.own_names import OWN


def _table() -> dict[str, dict[str, str]]:
    """namespace -> name -> target."""
    text = Path(__file__).with_name("same_names.json").read_text("utf-8")
    found: dict[str, dict[str, str]] = {}
    for space, there in json.loads(text).items():
        names = found.setdefault(space, {})
        for target, entries in there.items():
            for entry in entries:
                name, _, other = entry.partition("=")
                names[name] = f"intaglio.tf:{target}.{other or name}".replace(":.", ":")
    for space, own in OWN.items():
        found.setdefault(space, {}).update(own)
    return found


SPACES = Namespaces("intaglio.tf.compat.v1", __name__, _table)


def __getattr__(name: str) -> Any:
    """The module of a namespace."""
    return SPACES.module(name)
