"""Public functions refuse wrong arguments with errors of TensorFlow's, ValueError or TypeError.

INTAGLIO_SWEEP=100000 tries so many calls more, of which nobody has asked TensorFlow.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest

from intaglio import tf
from tests.parity import wrong_arguments

EXPECTED = (tf.errors.OpError, ValueError, TypeError, NotImplementedError)
MORE = int(os.environ.get("INTAGLIO_SWEEP", "0"))
# Of the calls that TensorFlow was asked for: as many raise here as there, and with the same class.
AGREEMENT, SAME_CLASS = 0.97, 0.83
# as_dtype takes what has a dtype, so that the error is the function's own, as for a complex dtype.
DEVIATING = (
    "tf.image.convert_image_dtype(image=tf.ones([4, 4, 3]), dtype=tf.constant(1j), saturate=1)"
)
# What takes long: two gigabytes of numbers, a trillion rows.
LARGE = ("2**31", "2**40")


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.filterwarnings("ignore")
def test_recorded_calls() -> None:
    agreeing = same = 0
    wrong: list[str] = []
    table = wrong_arguments.answers()
    for call, theirs in table.items():
        error = wrong_arguments.raised(call, tf)
        mine = "" if error is None else type(error).__name__
        agreeing += bool(mine) == bool(theirs)
        same += mine == theirs
        expected = mine in ("", theirs) or isinstance(error, EXPECTED)
        if not expected and call != DEVIATING:
            wrong.append(f"{call}: {mine}: {error}")
    assert not wrong, "\n".join(wrong)
    assert agreeing >= AGREEMENT * len(table)
    assert same >= SAME_CLASS * len(table)


@pytest.mark.filterwarnings("ignore")
def test_wrong_calls_leave_nothing_behind() -> None:
    """After calls that failed the same calls give the same, and work goes on eagerly."""
    calls = list(wrong_arguments.answers())[:400]
    first = [wrong_arguments.outcome(call, tf) for call in calls]
    assert tf.executing_eagerly()
    assert (tf.constant([1.0]) + 1.0).numpy().tolist() == [2.0]
    assert [wrong_arguments.outcome(call, tf) for call in calls] == first


@pytest.mark.skipif(not MORE, reason="INTAGLIO_SWEEP is not set")
@pytest.mark.filterwarnings("ignore")
def test_more_calls() -> None:
    """TensorFlow's own AttributeErrors, IndexErrors and RuntimeErrors are not known here."""
    allowed = (*EXPECTED, AttributeError, IndexError, RuntimeError, OverflowError)
    wrong: list[str] = []
    for call in wrong_arguments.calls(MORE, seed=MORE):
        if any(number in call for number in LARGE):
            continue
        error = wrong_arguments.raised(call, tf)
        if error is not None and not isinstance(error, allowed):
            wrong.append(f"{call}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
