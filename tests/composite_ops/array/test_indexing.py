"""Masks. Answers asked of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf

X = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def masked(rank: int, mask_rank: int, axis: int | None) -> Any:
    """`tf.boolean_mask` traced without knowing any dimension."""
    signature = [tf.TensorSpec([None] * rank), tf.TensorSpec([None] * mask_rank, tf.bool)]
    return tf.function(lambda t, m: tf.boolean_mask(t, m, axis=axis), input_signature=signature)


@pytest.mark.parametrize(
    ("tensor", "mask", "axis", "result"),
    [
        ([1.0, 2.0, 3.0], [True], None, [1.0]),
        ([1.0, 2.0, 3.0], [True, False], None, [1.0]),
        ([1.0, 2.0, 3.0], [False] * 4, None, []),
        ([1.0, 2.0, 3.0], [], None, []),
        (X, [[True, False], [True, True], [True, False]], None, [0.0, 2.0, 3.0, 4.0]),
        (X, [[True] * 3], None, [0.0, 1.0, 2.0]),
        (X, [True], 1, [[0.0], [3.0]]),
    ],
    ids=str,
)
def test_masks_of_another_length_are_refused_where_shapes_are_known(
    tensor: Any, mask: Any, axis: int | None, result: Any
) -> None:
    """A graph without static dimensions reads no more than the elements that are True."""
    values = tf.constant(tensor)
    chosen = tf.reshape(tf.constant(mask, tf.bool), tf.constant(mask).shape)
    with pytest.raises(ValueError, match="are incompatible"):
        tf.boolean_mask(values, chosen, axis=axis)
    run = masked(len(values.shape), len(chosen.shape), axis)
    for _ in range(3):
        assert run(values, chosen).numpy().tolist() == result


@pytest.mark.parametrize(("rank", "axis"), [(1, None), (2, 1)])
def test_a_mask_with_indices_beyond_the_end_fails(rank: int, axis: Any) -> None:
    values = tf.constant([1.0, 2.0, 3.0] if rank == 1 else X)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 3 is not in \[0, 3\)"):
        masked(rank, 1, axis)(values, tf.constant([True] * 4))


def test_results_of_another_type_are_refused_by_map_fn() -> None:
    for run in (lambda f: f(), lambda f: tf.function(f)()):
        with pytest.raises(tf.errors.InvalidArgumentError, match="trying to write dtype int32"):
            run(lambda: tf.map_fn(lambda t: tf.cast(t, tf.int32), tf.constant([1.0])))


@pytest.mark.parametrize("jit_compile", [None, False, True])
@pytest.mark.parametrize(
    "dtype", [tf.float32, tf.float64, tf.bfloat16, tf.int32, tf.uint8, tf.int64, tf.complex64]
)
def test_numbers_of_masks_are_true_unless_zero(dtype: Any, jit_compile: bool | None) -> None:
    # TensorFlow was asked: masks of 0 and 1 that were computed, such as those of band_part.
    def chosen(values: Any, mask: Any) -> Any:
        return tf.boolean_mask(values, mask, axis=1)

    run: Any = chosen
    if jit_compile is not None:
        run = tf.function(chosen, jit_compile=jit_compile or None)
    values = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        result = run(values, tf.cast([1, 0, 2], dtype))
    assert result.numpy().tolist() == [[1, 3], [4, 6]]
    gradient = tf.convert_to_tensor(tape.gradient(result, values))
    assert gradient.numpy().tolist() == [[1, 0, 1], [1, 0, 1]]


def test_lists_of_numbers_are_masks() -> None:
    assert tf.boolean_mask([1, 2, 3], [1, 0, 2]).numpy().tolist() == [1, 3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.boolean_mask([1, 2], tf.constant(["a", ""]))
