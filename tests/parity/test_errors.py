"""Wrong calls raise what TensorFlow raises: the same class, and nothing where it raises nothing.

The calls are derived from the samples (wrong_calls.py), TensorFlow's answers are in errors.json
(record_errors.py), and what differs on purpose is in deviations.py.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from tests.ops import calls
from tests.ops.samples import Sample
from tests.parity import deviations, errors, wrong_calls
from tests.printing import TYPES_PRINTED

NAMES = [name for name in calls.NAMES if calls.samples_of(name)]


def given(value: Any) -> Any:
    """An argument as the recorder gave it: arrays are tensors."""
    if isinstance(value, np.ndarray):
        return tf.constant(value)
    if isinstance(value, list):
        return [given(v) for v in value]
    return value


def classes_of(call: Sample) -> list[str]:
    """The class of the error and its bases, or ACCEPTED."""
    arguments = {k: given(v) for k, v in call.args.items()}
    try:
        with np.errstate(all="ignore"):
            calls.CATALOGUE[call.op](**arguments)
    except Exception as e:
        return [kind.__name__ for kind in type(e).__mro__]
    return [errors.ACCEPTED]


@functools.cache
def differing(name: str) -> list[tuple[str, str, str, str]]:
    """(op, change, TensorFlow's class, ours) of the calls that differ."""
    found: list[tuple[str, str, str, str]] = []
    for call in wrong_calls.of(calls.samples_of(name)):
        theirs = errors.of(call)
        if theirs in (None, errors.CRASH):
            continue  # not asked yet, or no answer to compare with
        ours = classes_of(call)
        if theirs not in ours:
            change = call.label.partition(": ")[2]
            found.append((name, change, theirs, ours[0]))
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_tensorflows(name):
    unlisted = [
        f"{op}: {change}: TensorFlow says {theirs}, Intaglio {ours}"
        for op, change, theirs, ours in differing(name)
        if not any(d.covers(op, change, theirs, ours) for d in deviations.TABLE)
        # NumPy 1 takes an array with one element for a number, and says that it will not.
        and (TYPES_PRINTED or ours != "DeprecationWarning")
    ]
    assert not unlisted, "\n".join(unlisted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("row", deviations.TABLE, ids=lambda d: d.reason[:40])
def test_every_row_is_about_something(row):
    named = row.ops.split() or NAMES
    assert any(row.covers(*call) for name in named for call in differing(name))


def test_most_calls_were_recorded():
    asked = [c for n in NAMES for c in wrong_calls.of(calls.samples_of(n))]
    missing = [c.label for c in asked if errors.of(c) is None]
    assert len(missing) < len(asked) / 10, (
        f"{len(missing)} of {len(asked)} calls have no recorded answer, such as "
        f"{missing[:5]}: run tests/parity/record_errors.py where TensorFlow is installed"
    )
