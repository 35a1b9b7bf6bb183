"""Numbers as text: machine code and NumPy write what C's printf does, which Python's formats follow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.opdef import machine_code
from intaglio.ops.text import format as number_format

POWERS = 10.0 ** np.arange(-280, 290)
NEAR_POWERS = np.concatenate([np.nextafter(POWERS, 0), POWERS, np.nextafter(POWERS, np.inf)])


def values_of(seed):
    """Doubles of all sizes, some short, some at the border of a power of ten, some without digits."""
    draw = np.random.default_rng(seed)
    return np.concatenate(
        [
            draw.normal(size=200),
            10.0 ** draw.uniform(-290, 290, 200) * draw.choice([-1, 1], 200),
            np.round(draw.normal(size=200), 2),
            draw.integers(-(10**6), 10**6, 200) * 10.0 ** draw.integers(-9, 9, 200),
            draw.choice(NEAR_POWERS, 200),
            [0.0, -0.0, np.inf, -np.inf, 1e-300, 5e-324, 1.7e308],
        ]
    )


@pytest.mark.parametrize("compiled", [True, False])
@given(seed=st.integers(0, 2**32), precision=st.integers(-1, 12), shortest=st.booleans())
@settings(max_examples=30, deadline=None)
def test_exponents_are_written_as_printf_does(compiled, seed, precision, shortest):
    values = values_of(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_code, "IN_BACKGROUND", False)
        patch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
        if not compiled:
            patch.setattr(number_format, "run_loops", lambda *arguments, rows: False)
        found = tf.strings.as_string(
            values, precision=precision, shortest=shortest, scientific=not shortest
        ).numpy()
    style = f"%{'' if precision < 0 else f'.{precision}'}{'g' if shortest else 'e'}"
    assert found.tolist() == [(style % v).encode() for v in values.tolist()]
