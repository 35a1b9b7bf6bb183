"""Elementwise results are two units in the last place from the exact ones, or from TensorFlow's."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.parity import accuracy


@functools.cache
def rows():
    with np.errstate(all="ignore"):
        return accuracy.measured()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_of_few_bits_are_right():
    wrong = {
        (op, dtype): row
        for (_, op, dtype), row in rows().items()
        if row[1] is not None and row[1] > accuracy.MOST and op not in accuracy.LOSING
    }
    assert not wrong, "more than two units from the result in float64"


def test_what_is_far_from_tensorflow_has_a_reason():
    silent = [key for key, row in rows().items() if not accuracy.reason(*key[:2], row)]
    assert not silent, "say why in tests/parity/accuracy.py"


def test_the_page_names_them_all():
    """But for what loses digits, of which NumPy's exp decides: it differs between versions."""
    page = accuracy.PAGE.read_text(encoding="utf-8")
    measured = [k for k in rows() if k[1] not in accuracy.LOSING]
    missing = [k for k in measured if f"| {k[1]} | {k[2]} |" not in page]
    assert not missing, "run `python -m tests.parity.accuracy`"
