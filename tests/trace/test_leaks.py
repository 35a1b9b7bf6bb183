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


@pytest.mark.usefixtures("no_permanent_objects")
def test_a_note_names_who_holds_the_tensor():
    leaky.get_concrete_function(tf.TensorSpec([1], tf.int32))
    with pytest.raises(TypeError) as raised:
        kept[0] + 1
    (note,) = raised.value.__notes__
    assert "kept[0], a global of test_leaks.py" in note


def _opened(name):
    return tf.__internal__.FuncGraph(name)


def _of_an_opened_graph():
    with _opened("first").as_default():
        return tf.constant(1) + tf.random.uniform([], maxval=9, dtype=tf.int32)


def _of_tensorflow_1():
    with tf.Graph().as_default():
        return tf.constant(1) + 1


@pytest.mark.parametrize("make", [_of_an_opened_graph, _of_tensorflow_1, None])
@pytest.mark.parametrize("branching", [False, True])
def test_graphs_that_programs_open_take_tensors_of_any_graph(make, branching, leak):
    # TensorFlow was asked: Keras 2's layers meet tensors of other layers' graphs in them.
    tensor = leak if make is None else make()
    graph = _opened("second")
    with graph.as_default():
        if branching:
            result = tf.cond(tf.random.uniform([]) > 0.5, lambda: tensor + 1, lambda: tensor)
        else:
            result = tensor + 1
    assert result.graph is graph
    assert [c for c, _ in graph.captures] == [tensor]


def test_graphs_that_programs_open_take_no_tensors_of_graphs_inside():
    with _opened("outer").as_default():
        with _opened("inner").as_default():
            tensor = tf.constant(2) + 1
        with pytest.raises(InaccessibleTensorError):
            tensor + 1


def test_graphs_of_functions_are_of_the_class_that_programs_know():
    @tf.function
    def traced():
        return isinstance(tf.constant(1).graph, tf.__internal__.FuncGraph)

    assert traced()
    assert not isinstance(tf.Graph(), tf.__internal__.FuncGraph)
