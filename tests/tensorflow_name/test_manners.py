"""What libraries expect of tensors and variables. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf
from intaglio.tensorflow_name.slice_updates import dynamic_update_slice
from tests.tensorflow_name.process import printed_by


class ActsAsVariable(tf.__internal__.types.Tensor):
    """A variable of a library: one that has a variable."""

    _should_act_as_resource_variable = True
    trainable = True

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def handle(self) -> Any:
        return self.value.handle

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return tf.convert_to_tensor(self.value, dtype=dtype, name=name)


class OnlyConverts:
    """Converts itself and is no tensor; knows what to do on the right of a tensor."""

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        raise ValueError("never a tensor")

    def __radd__(self, other: Any) -> Any:
        return "added"


def test_what_derives_from_the_class_of_tensors_is_one() -> None:
    assert tf.is_tensor(ActsAsVariable(tf.Variable(1.0)))
    assert tf.is_tensor(tf.Variable(1.0)) and tf.is_tensor(tf.constant(1))
    assert not tf.is_tensor(OnlyConverts())
    assert isinstance(tf.constant(1), tf.__internal__.types.Tensor)


def test_the_right_operand_has_precedence_if_it_is_no_tensor() -> None:
    assert tf.constant(1.0) + OnlyConverts() == "added"
    with pytest.raises(ValueError, match="never a tensor"):
        tf.constant(1.0) - OnlyConverts()  # type: ignore[operator]  # there is no __rsub__
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1) + "text"  # type: ignore[operator]  # as said


def test_notes_stay_on_tensors() -> None:
    seen: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        y = x + 1
        y._keras_mask = "mask"
        seen.append(y._keras_mask)
        return y

    eager = f(tf.constant(1))
    eager._keras_mask = "another"
    assert (*seen, eager._keras_mask) == ("mask", "another")


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", [tf.identity, ActsAsVariable])
def test_gradients_reach_variables_that_custom_gradients_do_not_read(
    traced: bool, kind: Any
) -> None:
    variable: Any = tf.Variable(4.0)
    if kind is ActsAsVariable:
        variable = ActsAsVariable(variable)

    @tf.custom_gradient
    def f(x: Any, a: Any) -> Any:
        def grad(up: Any, variables: Any = None) -> Any:
            assert variables is None
            return up, 2 * up

        return x * 3.0, grad

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, variable)
        return tape.gradient(y, [x, variable])

    run = tf.function(step) if traced else step
    assert [float(g) for g in run(tf.constant(1.0))] == [1.0, 2.0]


def test_tapes_in_a_function_watch_variables_that_are_arguments() -> None:
    @tf.function
    def gradient(v: Any) -> Any:
        with tf.GradientTape() as tape:
            y = v * v
        return tape.gradient(y, [v])[0]

    assert float(gradient(tf.Variable(3.0))) == 6.0


def test_a_variable_is_known_by_its_id_inside_of_a_function_too() -> None:
    first, second = tf.Variable(1.0), tf.Variable(1.0)
    seen: list[str] = []
    tf.function(lambda v: seen.append(v._unique_id))(first)
    assert seen == [first._unique_id]
    assert first._unique_id != second._unique_id
    assert first.assign(2.0)._unique_id == first._unique_id


def test_shapes_of_noise_may_have_tensors_in_them() -> None:
    x = tf.ones((4, 3))
    kept = tf.nn.experimental.stateless_dropout(
        x, 0.5, seed=[1, 2], noise_shape=[tf.shape(x)[0], 1]
    )
    rows = kept.numpy()
    assert set(map(tuple, rows.tolist())) == {(0.0, 0.0, 0.0), (2.0, 2.0, 2.0)}


def test_a_range_is_as_long_as_in_its_own_dtype() -> None:
    assert tf.range(0.1, 1.1, 0.1).shape == (10,)
    assert tf.range(0.0, 1.0, 0.1).shape == (10,)


def test_conditions_that_are_known_choose_at_once() -> None:
    smart_cond = tf.__internal__.smart_cond.smart_cond
    assert smart_cond(True, lambda: "yes", lambda: "no") == "yes"
    assert smart_cond(tf.constant(False), lambda: "yes", lambda: "no") == "no"

    @tf.function
    def f(p: Any) -> Any:
        return smart_cond(p, lambda: 1, lambda: 2)

    assert int(f(tf.constant(False))) == 2


def test_placeholders_belong_to_graphs() -> None:
    with tf.__internal__.FuncGraph("scratch").as_default():
        x = tf.compat.v1.placeholder(shape=(None, 3), dtype="float32")
        y = tf.matmul(x, tf.ones((3, 2)))
        assert not tf.executing_eagerly()
    assert y.shape.as_list() == [None, 2]
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.compat.v1.placeholder(tf.float32)


def test_blocks_are_replaced_inside_of_the_tensor() -> None:
    x = tf.range(6)
    assert dynamic_update_slice(x, [9, 9], [1]).numpy().tolist() == [0, 9, 9, 3, 4, 5]
    assert dynamic_update_slice(x, [9, 9], [5]).numpy().tolist() == [0, 1, 2, 3, 9, 9]


def test_convolutions_have_strides_or_dilations() -> None:
    images, filters = tf.zeros((1, 6, 6, 1)), tf.ones((2, 2, 1, 1))
    with pytest.raises(ValueError, match="not supported in conjunction"):
        tf.nn.convolution(images, filters, [2, 1], "VALID", dilations=[1, 2])
    assert tf.nn.convolution(images, filters, 2, "VALID").shape == (1, 3, 3, 1)
    assert tf.nn.conv2d(images, filters, 2, "VALID", dilations=2).shape == (1, 2, 2, 1)


def test_losses_of_classes_know_what_is_known_of_their_shape() -> None:
    @tf.function(
        input_signature=[tf.TensorSpec((None, 10), tf.int64), tf.TensorSpec((None, 10, 3))]
    )
    def loss(labels: Any, logits: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    assert loss.get_concrete_function().structured_outputs.shape[0] is None
    assert loss(tf.zeros((2, 10), tf.int64), tf.ones((2, 10, 3))).shape == (2, 10)


def test_conditions_on_sizes_that_are_known_choose_while_recording() -> None:
    @tf.function(input_signature=[tf.TensorSpec((None, 4))])
    def f(y: Any) -> Any:
        return tf.__internal__.smart_cond.smart_cond(
            tf.greater(tf.shape(y)[-1], 1),
            lambda: tf.argmax(y, axis=-1),
            lambda: tf.squeeze(y, axis=-1),
        )

    assert f(tf.ones((2, 4))).shape == (2,)


def test_what_libraries_tell_tensorflow_by() -> None:
    """The module of a tensor's class, the version of the distribution, attributes of private packages."""
    program = """
    import intaglio; intaglio.install_as_tensorflow()
    import importlib.metadata
    import tensorflow as tf
    import tensorflow.python as private
    print(type(tf.constant(1)).__module__.partition(".")[0])
    print(importlib.metadata.version("tensorflow").partition("+")[0])
    print(private.eager.record.should_record_backprop([tf.constant(1.0)]))
    x = tf.Variable(1.0)
    with tf.GradientTape():
        print(private.eager.record.should_record_backprop([x * 2.0]))
    print([d.value for d in tf.TensorShape([2, None]).dims], tf.TensorShape([2]).dims == [2])
    """
    assert printed_by(program) == ["tensorflow", tf.__version__, "False", "True", "[2, None] True"]


def test_names_of_tensorflow_1_are_apart_from_those_of_2() -> None:
    program = """
    import intaglio; intaglio.install_as_tensorflow()
    from tensorflow.python.util import tf_export
    new = tf_export.tf_export("some.Adam")(type("New", (), {}))
    old = tf_export.tf_export("some.legacy.Adam", v1=["some.Adam"])(type("Old", (), {}))
    found = tf_export.get_symbol_from_name
    print(found("some.Adam") is new, found("compat.v1.some.Adam") is old)
    """
    assert printed_by(program) == ["True True"]
