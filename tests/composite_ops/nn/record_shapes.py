"""Records which shapes TensorFlow refuses: `path/to/python -m tests.composite_ops.nn.record_shapes`."""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow as tf

from tests.composite_ops.nn.shapes import ALONG, PAIRS, outcomes

found = {name: outcomes(tf, name) for name in (*PAIRS, *ALONG)}
lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
head = json.dumps({"tensorflow": tf.__version__})
Path(__file__).with_name("refused_shapes.json").write_text(
    "{\n" + ",\n".join([f'"_meta": {head}', *lines]) + "\n}\n"
)
