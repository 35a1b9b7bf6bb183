"""The generated tests notice what they are there to notice."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from intaglio.opdef import raw
from tests.ops import calls, differences, samples
from tests.parity import answers

MUL = next(s for s in calls.samples_of("Mul") if s.dtype == "float64")
SIGMOID = next(s for s in calls.samples_of("Sigmoid") if s.dtype == "float64")


def negate(monkeypatch, name):
    """Gives an op the opposite of its gradient."""
    rule = getattr(raw, name).rules["gradient"]
    right = rule.fn

    def wrong(*given):
        made = right(*given)
        return tuple(map(raw.Neg, made)) if isinstance(made, tuple) else raw.Neg(made)

    monkeypatch.setattr(rule, "fn", wrong)


def test_a_wrong_gradient_is_found(monkeypatch):
    differences.check(SIGMOID, 1)
    negate(monkeypatch, "Sigmoid")
    with pytest.raises(AssertionError, match="order 1 derivative"):
        differences.check(SIGMOID, 1)


def test_a_wrong_second_gradient_is_found(monkeypatch):
    differences.check(SIGMOID, 2)
    negate(monkeypatch, "SigmoidGrad")
    with pytest.raises(AssertionError, match="order 2 derivative"):
        differences.check(SIGMOID, 2)


@pytest.mark.parametrize("dtype", samples.ORDINARY)
def test_answers_survive_writing(dtype):
    array = samples.Data(dtype, (3, 2)).array(None, None, "seed")
    back = answers.decode(answers.encode(array))
    assert back.dtype == array.dtype
    calls.assert_same(back, array, dtype)


def test_tolerance_is_in_units_of_the_last_place():
    one = np.float32([1.0])
    near = one + np.float32(2) * np.spacing(one)
    calls.assert_close(near, one, MUL)
    with pytest.raises(AssertionError):
        calls.assert_close(near + np.spacing(one), one, MUL)
    calls.assert_close(near + np.spacing(one), one, dataclasses.replace(MUL, ulp=3))
    with pytest.raises(AssertionError):
        calls.assert_close(one * np.nan, one, MUL)


def test_samples_are_the_same_every_time():
    first = samples.Data("float32", (4,)).array(None, None, "a")
    assert (first == samples.Data("float32", (4,)).array(None, None, "a")).all()
    assert (first != samples.Data("float32", (4,)).array(None, None, "b")).any()
