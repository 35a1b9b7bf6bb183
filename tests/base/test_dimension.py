"""Sizes as TensorFlow 1 had them. TensorFlow 2.21 was asked for the answers."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf
from intaglio.base.dimension import Dimension

THREE, UNKNOWN = Dimension(3), Dimension(None)


@pytest.mark.parametrize(
    ("function", "other", "wanted"),
    [
        (operator.add, 2, 5),
        (operator.sub, 1, 2),
        (operator.mul, Dimension(4), 12),
        (operator.floordiv, 2, 1),
        (operator.mod, 2, 1),
    ],
)
def test_arithmetic_gives_dimensions(
    function: Callable[[Any, Any], Any], other: Any, wanted: int
) -> None:
    found = function(THREE, other)
    assert isinstance(found, Dimension) and found.value == wanted
    assert function(THREE, UNKNOWN).value is None
    assert function(UNKNOWN, other).value is None


def test_reflected_arithmetic() -> None:
    assert (2 + THREE).value == 5 and (7 // THREE).value == 2 and (7 % THREE).value == 1
    with pytest.raises(ValueError, match="must be >= 0"):
        _ = 2 - THREE
    with pytest.raises(TypeError, match="please use // instead"):
        _ = THREE / 2


def test_comparisons_with_unknown_sizes_say_nothing() -> None:
    assert THREE == 3 and THREE != 4 and THREE < 4 and THREE >= 3 and THREE != "x"
    assert (THREE == UNKNOWN) is None and (UNKNOWN == UNKNOWN) is None
    assert (THREE != UNKNOWN) is None and (THREE < UNKNOWN) is None
    with pytest.raises(TypeError, match="unhashable"):
        hash(THREE)


def test_a_size_is_an_index() -> None:
    assert int(THREE) == 3 and list(range(5))[THREE] == 3
    assert (str(THREE), str(UNKNOWN), repr(THREE)) == ("3", "?", "Dimension(3)")
    assert pickle.loads(pickle.dumps(THREE)).value == 3 and Dimension(THREE).value == 3
    with pytest.raises(TypeError):
        int(UNKNOWN)


def test_what_is_known_of_both() -> None:
    assert THREE.merge_with(None).value == 3 and UNKNOWN.merge_with(THREE).value == 3
    assert THREE.is_compatible_with(UNKNOWN) and not THREE.is_compatible_with(4)
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        THREE.merge_with(4)


@pytest.mark.parametrize(("value", "error"), [(-1, ValueError), (2.5, TypeError), ("x", TypeError)])
def test_what_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Dimension(value)


def test_shapes_are_made_of_dimensions() -> None:
    shape = tf.TensorShape([2, None])
    assert tf.TensorShape(shape.dims).as_list() == [2, None]
    assert tf.TensorSpec(shape.dims, tf.int32).shape.as_list() == [2, None]
