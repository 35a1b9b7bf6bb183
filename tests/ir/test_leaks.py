"""What the error about a tensor without a value says of it."""

from typing import Any

import pytest

from intaglio import tf

kept: list[Any] = []


@pytest.mark.usefixtures("no_permanent_objects")
def test_numpy_of_a_tensor_that_has_left_its_function() -> None:
    @tf.function
    def f(x):
        kept.append(x * 2)
        return x

    f(tf.constant(1.0))
    # TensorFlow 2.21 was asked: the message is the same, without a note.
    with pytest.raises(AttributeError) as e:
        kept[0].numpy()
    assert str(e.value) == "'SymbolicTensor' object has no attribute 'numpy'"
    (note,) = e.value.__notes__
    assert "a tensor of the graph f" in note and "kept.append(x * 2)" in note
    assert "held by kept[0], a global of test_leaks.py" in note
    assert not hasattr(kept[0], "numpy")


def test_numpy_while_a_function_is_traced() -> None:
    @tf.function
    def f(x):
        return x.numpy()

    with pytest.raises(AttributeError, match="no attribute 'numpy'") as e:
        f(tf.constant(1.0))
    assert any("While a tf.function is traced" in note for note in e.value.__notes__)
