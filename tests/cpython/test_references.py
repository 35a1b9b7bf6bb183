"""Sole owners are recognised, from every caller and with every kind of reference."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import cpython
from intaglio.cpython import is_sole_owner, shared
from intaglio.cpython.references import other_references

pytestmark = pytest.mark.skipif(
    not cpython.AVAILABLE, reason="reference counts do not show the owners"
)

KINDS = [object, list, dict, lambda: np.zeros(3), lambda: np.zeros(1 << 16), lambda: {1, 2}]


@pytest.mark.parametrize("new", KINDS)
def test_one_variable_is_the_sole_owner(new) -> None:
    value = new()
    assert is_sole_owner(value)
    assert other_references(value) == 0


@pytest.mark.parametrize("new", KINDS)
def test_every_other_reference_counts(new) -> None:
    value = new()
    second = value
    assert not is_sole_owner(value) and other_references(value) == 1
    held = [value, value]
    assert other_references(value) == 3
    del second
    held.clear()
    assert is_sole_owner(value)


def test_containers_attributes_cells_and_views_are_references() -> None:
    class Owner:
        pass

    array = np.zeros(8)
    assert is_sole_owner(array)
    view = array[1:3]
    assert not is_sole_owner(array)
    del view
    owner = Owner()
    owner.array = array
    assert not is_sole_owner(array)
    del owner.array
    assert is_sole_owner(array)
    export = memoryview(array)
    assert not is_sole_owner(array)
    del export

    def passed_on(value: np.ndarray) -> bool:
        return is_sole_owner(value)

    assert not passed_on(array)  # the caller has a variable of its own


def taken(owner: list[object]) -> bool:
    value = owner[0]
    owner[0] = None
    return is_sole_owner(value) and type(value) is not int


def test_an_object_out_of_a_container_has_one_owner() -> None:
    assert taken([np.zeros(3)])
    kept = np.zeros(3)
    assert not taken([kept])


def test_another_owner_is_seen_in_every_form_of_call() -> None:
    """Versions differ in which references the interpreter lends to a call."""

    def generated(kept: object):
        value = kept
        yield is_sole_owner(value)

    def stored_meanwhile(kept: object) -> bool:
        value = kept
        return [is_sole_owner(value), value := None][0]

    def in_a_cell(kept: object) -> bool:
        value = kept

        def inner() -> object:
            return value

        return is_sole_owner(value) and inner() is not None

    def by_keyword(kept: object) -> bool:
        value = kept
        return is_sole_owner(value=value) or is_sole_owner(*[value])

    kept = object()
    assert not next(generated(kept))
    assert not stored_meanwhile(kept)
    assert not in_a_cell(kept)
    assert not by_keyword(kept)


def test_after_many_calls_the_answers_are_the_same() -> None:
    """The interpreter specialises functions that run often."""
    for _ in range(5000):
        value = [1]
        assert is_sole_owner(value)
        other = value
        assert not is_sole_owner(value)
        del other


def test_singletons_have_other_owners() -> None:
    for value in (None, 0, "text", NotImplemented, ()):
        assert not is_sole_owner(value)


@pytest.mark.parametrize("new", KINDS)
def test_a_list_is_the_sole_owner_of_its_values(new) -> None:
    values = [new() for _ in range(4)]
    assert shared(values) == []
    assert shared([]) == []
    kept = values[2]
    assert shared(values) == [2]
    assert shared(values, 1) == [0, 1, 3]  # to which no other refers
    del kept
    twice = new()
    assert shared([twice, twice]) == [0, 1]
