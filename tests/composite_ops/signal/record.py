"""Asks TensorFlow for the answers to the calls: path/to/python -m tests.composite_ops.signal.record"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf

from tests.composite_ops import recorded
from tests.composite_ops.signal.calls import CALLS, arrays

FILE = Path(__file__).with_name("answers.json")

if __name__ == "__main__":
    found = {name: recorded.answer(lambda c=call: c(tf), arrays) for name, call in CALLS.items()}
    for name, made in found.items():
        if isinstance(made[0], str):
            print(name, made)
    recorded.write(FILE, tf.__version__, found)
