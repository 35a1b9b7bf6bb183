"""Kernels with temporary arrays run on blocks of their operands."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio.opdef import scalar

LARGE = scalar.MIN_BLOCKED_ELEMENTS + 5


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["large", "dimless", "number"]), min_size=1, max_size=3), st.booleans()
)
def test_any_operand_may_be_the_large_one(forms: list[str], two_dims: bool) -> None:
    """Operands without dims are the same for all blocks; an attribute is behind the operands."""
    draw = np.random.default_rng(len(forms))
    shape = (LARGE // 5, 5) if two_dims else (LARGE,)
    sizes: list[int] = []

    def kernel(*arguments: Any) -> Any:
        *arrays, slope = arguments
        sizes.append(max(x.size for x in arrays))
        return sum(arrays) * slope

    operands: list[Any] = []
    for form in forms:
        x = draw.standard_normal(shape if form == "large" else ())
        operands.append(np.float64(x) if form == "number" else np.asarray(x))
    got = scalar.in_blocks(kernel)(*operands, 0.5)
    assert max(sizes) <= scalar.BLOCK_ELEMENTS
    assert len(sizes) == (-(-LARGE // scalar.BLOCK_ELEMENTS) if "large" in forms else 1)
    np.testing.assert_array_equal(got, kernel(*operands, 0.5))


def test_operands_that_broadcast_along_axes_are_computed_in_one_call() -> None:
    sizes: list[int] = []

    def kernel(x: Any, y: Any) -> Any:
        sizes.append(y.size)
        return x + y

    row, whole = np.arange(5.0), np.ones((LARGE // 5, 5))
    np.testing.assert_array_equal(scalar.in_blocks(kernel)(row, whole), row + whole)
    assert sizes == [whole.size]
