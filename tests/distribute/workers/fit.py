"""Keras' `fit` in two processes: prints what the first says, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import tensorflow as tf

from tests.distribute.programs import keras_fit

strategy = tf.distribute.MultiWorkerMirroredStrategy()
found: dict[str, str] = {}


def say(label: str, function: Callable[[], Any]) -> None:
    found[label] = repr(function())


keras_fit.train(tf, say, strategy)
print(json.dumps({"worker": strategy.cluster_resolver.task_id, "said": found}))
