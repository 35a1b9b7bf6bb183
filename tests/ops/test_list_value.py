"""Values of tensor lists: whatever is shared, every list keeps its own elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio.base.dtypes import float32
from intaglio.base.errors import InvalidArgumentError
from intaglio.ops.control_flow.list_value import MAX_SPARSE_ELEMENTS, MAX_UNDO_STEPS, TensorList

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["set", "push", "pop", "resize", "zeros", "sum"]),
        st.integers(0, 40),
        st.integers(0, 40),
    ),
    max_size=60,
)


def _numbers(value: TensorList) -> list[Any]:
    return [None if v is None else float(v) for v in value.items()]


def _made(value: TensorList, plain: list[Any], step: Any, fresh: float) -> Any:
    """A list made from another, and the same of Python lists."""
    kind, at, _ = step
    item = np.float32(fresh)
    if kind == "push":
        return value.pushed(item), [*plain, fresh]
    if kind == "resize":
        size = at % 30
        return value.resized(size), (plain + [None] * size)[:size]
    if kind == "zeros":
        return value.zeros_like(), [None] * len(plain)
    if not plain:
        return value, plain
    if kind == "pop":
        rest, last = value.taken()
        assert last == plain[-1]
        return rest, plain[:-1]
    index = at % len(plain)
    if kind == "set":
        return value.with_item(index, item), [
            fresh if i == index else v for i, v in enumerate(plain)
        ]
    other = TensorList.unset(len(plain), float32, ()).with_item(index, item)
    summed = fresh if plain[index] is None else plain[index] + fresh
    return value.add_n([value, other]), [summed if i == index else v for i, v in enumerate(plain)]


@settings(deadline=None, max_examples=200)
@given(STEPS)
def test_lists_derived_from_any_earlier_list_are_as_if_copied(steps: Any) -> None:
    lists = [TensorList.unset(20, float32, ()), TensorList([], 0, float32, -1, ())]
    plain: list[list[Any]] = [[None] * 20, []]
    for number, step in enumerate(steps):
        # mostly the newest list goes on, as in programs; sometimes an old one
        source = -1 if step[2] > 8 else step[2] % len(lists)
        made, expected = _made(lists[source], plain[source], step, float(number + 1))
        lists.append(made)
        plain.append(expected)
    for value, expected in zip(lists, plain, strict=True):
        singles = [value.get(i) for i in range(value.size)]
        assert [None if v is None else float(v) for v in singles] == expected
    for value, expected in zip(lists, plain, strict=True):
        assert _numbers(value) == expected


def test_setting_the_newest_list_copies_nothing() -> None:
    value = TensorList.unset(MAX_SPARSE_ELEMENTS + 3, float32, ())
    for i in range(MAX_SPARSE_ELEMENTS + 3):
        value = value.with_item(i, np.float32(i))
    buffer = value.buffer
    assert value.with_item(0, np.float32(9)).buffer is buffer


def test_an_old_list_far_behind_gets_a_buffer_of_its_own() -> None:
    old = value = TensorList([np.float32(0)] * 3, 3, float32)
    for i in range(MAX_UNDO_STEPS + 5):
        value = value.with_item(1, np.float32(i))
    assert float(old.get(0)) == 0
    assert _numbers(old) == [0, 0, 0]
    assert old.buffer is not value.buffer


def test_sums_with_few_elements_leave_the_rest_alone() -> None:
    whole = TensorList([np.float32(i) for i in range(100)], 100, float32, -1, ())
    few = TensorList.unset(100, float32, ()).with_item(7, np.float32(10))
    total = whole.add_n([few, whole, few])
    assert float(total.get(7)) == 27
    assert float(total.get(8)) == 8
    assert float(whole.get(7)) == 7


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_list_added_to_itself_is_multiplied(times: int) -> None:
    few = TensorList.unset(4, float32, ()).with_item(1, np.float32(2))
    full = TensorList([np.float32(i) for i in range(4)], 4, float32)
    assert _numbers(few.add_n([few] * times)) == [None, 2 * times, None, None]
    assert _numbers(full.add_n([full] * times)) == [i * times for i in range(4)]
    assert _numbers(few) == [None, 2, None, None]


def test_sums_of_different_lengths_are_refused() -> None:
    one = TensorList.unset(2, float32, ())
    with pytest.raises(InvalidArgumentError, match="different lengths"):
        one.add_n([one, TensorList.unset(3, float32, ())])


def test_limits_and_empty_lists() -> None:
    full = TensorList([], 0, float32, limit=1).pushed(np.float32(1))
    with pytest.raises(InvalidArgumentError, match="full list"):
        full.pushed(np.float32(2))
    with pytest.raises(InvalidArgumentError, match="empty list"):
        TensorList([], 0, float32).taken()


def test_zeros_of_lists_with_different_shapes_have_their_shapes() -> None:
    mixed = TensorList([np.ones(2, "f4"), np.ones(3, "f4"), None], 3, float32)
    zeros = mixed.zeros_like().items()
    assert [None if z is None else z.shape for z in zeros] == [(2,), (3,), None]
