"""tf.image gives TensorFlow's answers, eagerly and in graphs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intaglio import tf
from tests.composite_ops import recorded
from tests.composite_ops.image.calls import CALLS, CHANCE, ERRORS, arrays

ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text())
TOLERANCE = 5e-6
# One step of 32767 where a float lies between two.
ROUGH = {"hue int16": 1}
# Streams of random ops start otherwise in graphs: there only seeds of their own count.
STATEFUL = [n for n in CHANCE if not n.startswith("stateless")]


@pytest.mark.parametrize("name", CALLS)
def test_eagerly(name):
    tf.random.set_seed(None)
    result = CALLS[name](tf)
    recorded.compare(ANSWERS[name], result, arrays(result), ROUGH.get(name, TOLERANCE))


@pytest.mark.parametrize("name", [n for n in CALLS if n not in STATEFUL])
def test_in_a_graph(name):
    result = tf.function(lambda: CALLS[name](tf))()
    recorded.compare(ANSWERS[name], result, arrays(result), ROUGH.get(name, TOLERANCE))


@pytest.mark.parametrize("name", ERRORS)
def test_refuses(name):
    kind, _ = ANSWERS[f"error: {name}"]
    with pytest.raises(Exception) as caught:
        ERRORS[name](tf)
    assert kind in [c.__name__ for c in type(caught.value).__mro__]
