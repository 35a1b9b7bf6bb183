"""tf.signal gives TensorFlow's answers, eagerly and in graphs of unknown shapes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intaglio import tf
from tests.composite_ops import recorded
from tests.composite_ops.signal.calls import CALLS, arrays

ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text())
# Sums in another order, of numbers as large as 30.
TOLERANCE = 5e-6


@pytest.mark.parametrize("name", CALLS)
def test_eagerly(name):
    result = CALLS[name](tf)
    tolerance = 2e-3 if "half" in name else TOLERANCE
    recorded.compare(ANSWERS[name], result, arrays(result), tolerance)


@pytest.mark.parametrize("name", CALLS)
def test_in_a_graph(name):
    result = tf.function(lambda: CALLS[name](tf))()
    tolerance = 2e-3 if "half" in name else TOLERANCE
    recorded.compare(ANSWERS[name], result, arrays(result), tolerance)
