"""Symbolic tensors used outside their graphs; the texts are TensorFlow 2.21's."""

import pytest

from intaglio import tf
from intaglio.base.errors import InaccessibleTensorError

kept = []


@tf.function
def leaky(a):
    kept[:] = [a + 1]
    return a


@pytest.fixture
def leak():
    leaky.get_concrete_function(tf.TensorSpec([], tf.int32))
    if not kept:
        pytest.fail("nothing leaked")
    return kept[0]


def check(text):
    name = "<tf.Tensor 'add:0' shape=() dtype=int32>"
    assert (
        f"{name} is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow "
        "collections to access it.\n"
    ) in text
    assert "function#all_outputs_of_a_tffunction_must_be_return_values" in text
    assert f"{name} was defined here:\n" in text
    assert "kept[:] = [a + 1]" in text
    assert (
        f"The tensor {name} cannot be accessed from here, because it was defined in FuncGraph(name=leaky, id="
    ) in text
    assert text.rstrip().endswith("which is out of scope.")


def test_used_eagerly(leak):
    with pytest.raises(TypeError) as raised:
        leak + 1
    check(str(raised.value))
    with pytest.raises(TypeError):
        tf.constant(1) + leak


@pytest.mark.parametrize("autograph", [True, False])
def test_used_in_another_function(leak, autograph):
    with pytest.raises(TypeError) as raised:
        tf.function(lambda b: b + leak, autograph=autograph)(tf.constant(1))
    if not autograph:
        check(str(raised.value))
    assert "is out of scope" in str(raised.value)


def test_passed_to_a_function(leak):
    with pytest.raises(TypeError, match="is out of scope"):
        tf.function(lambda x: x + 1)(leak)


def test_used_in_the_function_around_it():
    @tf.function
    def outer(a):
        found = []

        @tf.function
        def inner(b):
            found.append(b + 1)
            return b

        inner(a)
        return a + found[0]

    with pytest.raises(InaccessibleTensorError) as raised:
        outer(tf.constant(1))
    assert "cannot be accessed from FuncGraph(name=outer, id=" in str(raised.value)
    assert "because it was defined in FuncGraph(name=inner, id=" in str(raised.value)


def test_it_has_no_value(leak):
    with pytest.raises(AttributeError, match="'SymbolicTensor' object has no attribute 'numpy'"):
        leak.numpy()


def test_a_note_names_who_holds_the_tensor():
    leaky.get_concrete_function(tf.TensorSpec([1], tf.int32))
    with pytest.raises(TypeError) as raised:
        kept[0] + 1
    (note,) = raised.value.__notes__
    assert "kept[0], a global of test_leaks.py" in note
