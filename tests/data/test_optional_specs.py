"""The type of optionals, also of those without an element. TensorFlow 2.21 was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from intaglio import tf

NOTHING = tf.OptionalSpec(None)
SCALAR = tf.OptionalSpec(tf.TensorSpec([], tf.float32))
VECTOR = tf.OptionalSpec(tf.TensorSpec([3], tf.float32))
ANY_VECTOR = tf.OptionalSpec(tf.TensorSpec([None], tf.float32))


def test_subtypes() -> None:
    assert NOTHING.is_subtype_of(tf.OptionalSpec(None))
    assert VECTOR.is_subtype_of(ANY_VECTOR) and not ANY_VECTOR.is_subtype_of(VECTOR)
    assert not NOTHING.is_subtype_of(SCALAR) and not SCALAR.is_subtype_of(NOTHING)


def test_common_supertypes() -> None:
    join = tf.OptionalSpec.most_specific_common_supertype
    assert join(NOTHING, [NOTHING]) == NOTHING
    assert join(VECTOR, [ANY_VECTOR]) == ANY_VECTOR
    assert join(NOTHING, [SCALAR]) is None and join(SCALAR, [NOTHING]) is None


def test_a_dataset_of_nothing_goes_through_a_function() -> None:
    """Inputs of a model that are left out arrive so."""

    def elements() -> Iterator[Any]:
        yield {"a": tf.ones((2, 3)), "b": tf.experimental.Optional.empty(None)}

    data = tf.data.Dataset.from_generator(
        elements, output_signature={"a": tf.TensorSpec((None, 3)), "b": NOTHING}
    )

    @tf.function(reduce_retracing=True)
    def step(iterator: Any) -> Any:
        element = iterator.get_next()
        return element["a"], element["b"].has_value()

    for _ in range(2):
        a, there = step(iter(data))
        assert a.shape == (2, 3) and not bool(there)
