"""Decorators that state the parameters of what they decorate. TensorFlow's answers were recorded."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from intaglio import tf
from intaglio.tensorflow_name import type_spec_names
from intaglio.tensorflow_name.inspection import ArgSpec, getfullargspec, make_decorator
from intaglio.type_specs.type_spec import BoundedTensorSpec, register_type_spec_from_value_converter

SPEC = inspect.FullArgSpec(["self", "x", "training"], None, None, (False,), ["k"], {"k": 2}, {})


class Layer:
    def call(self, x: Any) -> Any:
        return x


def decorated(target: Any, spec: Any) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    return make_decorator(target, wrapper, decorator_argspec=spec)


def test_of_a_method() -> None:
    found = decorated(Layer().call, SPEC)
    assert getfullargspec(found) == SPEC
    assert str(inspect.signature(found)) == "(x, training=False, *, k=2)"


def test_of_a_function_and_of_python_2() -> None:
    found = decorated(lambda a: a, ArgSpec(["a", "b"], "args", "named", (1,)))
    assert getfullargspec(found).args == ["a", "b"]
    assert str(inspect.signature(found)) == "(a, b=1, *args, **named)"


def test_a_decorator_around_states_nothing() -> None:
    def outer(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    inner = decorated(Layer().call, SPEC)
    assert getfullargspec(make_decorator(inner, outer)) == SPEC


def test_defaults_of_traced_functions() -> None:
    seen = []

    def wrapper(x: Any, training: Any = None, k: Any = None) -> Any:
        seen.append((training, k))
        return x

    function = tf.function(make_decorator(Layer().call, wrapper, decorator_argspec=SPEC))
    function(tf.constant(1.0))
    assert seen == [(False, 2)]
    assert function.function_spec.arg_names == ["x", "training"]


def test_functions_that_libraries_make() -> None:
    made = tf.__internal__.function.Function(
        lambda x: x * 2.0, "double", input_signature=[tf.TensorSpec(None)]
    )
    assert made._concrete_variable_creation_fn is None
    assert made(3.0).numpy() == 6.0
    assert made.input_signature == (tf.TensorSpec(None),)
    assert made._concrete_variable_creation_fn.graph.outputs[0].dtype is tf.float32


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("tf.TensorSpec", tf.TensorSpec([2, None], tf.int32, "a")),
        ("tf.BoundedTensorSpec", BoundedTensorSpec([2], tf.float32, 0.0, 1.0)),
        ("tf.RaggedTensorSpec", tf.RaggedTensorSpec([None, None])),
        ("tf.SparseTensorSpec", tf.SparseTensorSpec([None, 3], tf.int64)),
        ("tf.TensorArraySpec", tf.TensorArraySpec([3])),
    ],
)
def test_names_of_type_specs(name: str, spec: Any) -> None:
    assert type_spec_names.get_name(type(spec)) == name
    assert type_spec_names.lookup(name) is type(spec)
    assert type(spec)._deserialize(spec._serialize()) == spec


def test_no_names_of_type_specs() -> None:
    with pytest.raises(TypeError, match="Expected `cls` to be a TypeSpec"):
        type_spec_names.get_name(int)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="No TypeSpec has been registered with name 'foo'"):
        type_spec_names.lookup("foo")
    with pytest.raises(TypeError, match="Expected `name` to be a string"):
        type_spec_names.lookup(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "ranks", "nameless"),
    [
        (
            tf.TensorSpec([2, None, 3], tf.int32, "a"),
            tf.TensorSpec([None] * 3, tf.int32, "a"),
            tf.TensorSpec([2, None, 3], tf.int32),
        ),
        (tf.TensorSpec(None), tf.TensorSpec(None), tf.TensorSpec(None)),
        (
            tf.RaggedTensorSpec([2, None, 4]),
            tf.RaggedTensorSpec([None] * 3),
            tf.RaggedTensorSpec([2, None, 4]),
        ),
        (tf.SparseTensorSpec([2, 3]), tf.SparseTensorSpec([None] * 2), tf.SparseTensorSpec([2, 3])),
        (tf.TensorArraySpec([3]), tf.TensorArraySpec([None]), tf.TensorArraySpec([3])),
    ],
)
def test_specs_made_wider(spec: Any, ranks: Any, nameless: Any) -> None:
    assert spec._with_tensor_ranks_only() == ranks
    assert spec._without_tensor_names() == nameless


def test_graphs_around_a_function() -> None:
    """Walking up ends at a graph without `outer_graph`, as in TensorFlow."""
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        while hasattr(graph, "outer_graph"):
            seen.append(graph._get_control_flow_context())
            graph = graph.outer_graph
        seen.append(isinstance(graph, tf.Graph))
        return tf.cond(x > 0, lambda: x, lambda: -x)

    f(tf.constant(1.0))
    assert seen == [None, True]


def test_specs_by_registered_functions() -> None:
    class Value:
        pass

    class Below(Value):
        pass

    register_type_spec_from_value_converter(Value, lambda _: tf.TensorSpec([1]))
    assert tf.type_spec_from_value(Value()) == tf.TensorSpec([1])
    with pytest.raises(TypeError):
        tf.type_spec_from_value(Below())
    register_type_spec_from_value_converter(Value, lambda _: tf.TensorSpec([2]), True)
    assert tf.type_spec_from_value(Below()) == tf.TensorSpec([2])


@pytest.mark.parametrize("kind", [tf.TensorSpec, tf.SparseTensorSpec, tf.RaggedTensorSpec])
def test_shapes_that_are_learnt_later(kind: Any) -> None:
    """Keras 2 writes the shape of a symbolic tensor into its spec."""
    spec, other = kind([8, None]), kind([8, 3])
    assert spec != other
    if kind is tf.TensorSpec:
        hash(spec)
    spec._shape = tf.TensorShape([8, 3])
    assert spec.shape.as_list() == [8, 3]
    assert spec == other
    assert hash(spec) == hash(other)
    assert spec._serialize() == other._serialize()
