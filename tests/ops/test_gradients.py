"""Every op with a gradient rule: first and second order against finite differences, float64."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ops import differences
from tests.ops.calls import NAMES, UNSAMPLED, differentiable, samples_of


def _checked(name, order):
    for sample in samples_of(name):
        wanted = sample.grad if order == 1 else sample.grad2
        if sample.error or sample.grad is not True or wanted is not True:
            continue
        if differences.variables(sample):
            yield sample


def _complex(name):
    for sample in samples_of(name):
        if sample.error or sample.grad is not True:
            continue
        if differences.complex_variables(sample):
            yield sample


# Ops whose complex gradients in TensorFlow 2.21 fail this check, asked of it with these
# samples. What TensorFlow gives is what its users get here.
TENSORFLOW_DEPARTS = dict.fromkeys(
    (
        "Cumprod",
        "EuclideanNorm",
        "MulNoNan",
        "SegmentProd",
        "Sign",
        "SquaredDifference",
        "UnsortedSegmentProd",
        "Xdivy",
        "Xlog1py",
        "Xlogy",
    ),
    "TensorFlow's complex gradient of this op is not the conjugate derivative",
)

DIFFERENTIABLE = [n for n in NAMES if differentiable(n) and n not in UNSAMPLED]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_first_order(name):
    for sample in _checked(name, 1):
        differences.check(sample, order=1)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_second_order(name):
    for sample in _checked(name, 2):
        differences.check(sample, order=2)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_complex(name):
    if name in TENSORFLOW_DEPARTS:
        pytest.skip(TENSORFLOW_DEPARTS[name])
    for sample in _complex(name):
        differences.check_complex(sample)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_in_a_graph(name):
    """The gradients of a recorded call, whatever is known of the shapes, are the same."""
    for sample in _checked(name, 1):
        if sample.graph is not True:
            continue
        for hidden in ("no", "dims", "rank"):
            eager, traced = differences.graph_gradients(sample, hidden)
            where = f"{sample!r} with {hidden} shapes"
            for wanted, got in zip(eager, traced, strict=True):
                assert (wanted is None) == (got is None), where
                if wanted is not None:
                    assert got.shape == wanted.shape, where
                    np.testing.assert_allclose(got, wanted, 1e-12, 1e-14, err_msg=where)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_have_samples(name):
    """A gradient rule is checked by some sample, or all samples say why it is not."""
    known = samples_of(name)
    reasons = [s for s in known if isinstance(s.grad, str)]
    checked = any(_checked(name, 1)) or any(_complex(name))
    assert not known or reasons or checked, (
        f"{name} has a gradient rule and no float64 or complex128 sample that checks it"
    )
