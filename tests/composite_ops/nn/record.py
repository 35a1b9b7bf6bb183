"""Asks TensorFlow for the answers to the calls: path/to/python -m tests.composite_ops.nn.record"""

from __future__ import annotations

import json
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf

from tests.composite_ops.nn.calls import CALLS, arrays

FILE = Path(__file__).with_name("answers.json")

if __name__ == "__main__":
    found = {name: [a.round(7).tolist() for a in arrays(call(tf))] for name, call in CALLS.items()}
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    head = json.dumps({"tensorflow": tf.__version__})
    FILE.write_text("{\n" + ",\n".join([f'"_meta": {head}', *lines]) + "\n}\n")
