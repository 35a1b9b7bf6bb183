"""Asks TensorFlow for the answers to the calls: path/to/python -m tests.composite_ops.image.record"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf

from tests.composite_ops import recorded
from tests.composite_ops.image.calls import CALLS, ERRORS, arrays

FILE = Path(__file__).with_name("answers.json")

if __name__ == "__main__":
    found = {name: recorded.answer(lambda c=call: c(tf), arrays) for name, call in CALLS.items()}
    errors = {
        f"error: {name}": recorded.answer(lambda c=call: c(tf), arrays)
        for name, call in ERRORS.items()
    }
    for name, made in {**found, **errors}.items():
        if isinstance(made[0], str) != name.startswith("error: "):
            print(name, made)
    recorded.write(FILE, tf.__version__, {**found, **errors})
