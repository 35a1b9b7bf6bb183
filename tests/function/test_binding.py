"""Binding arguments, input signatures, and the errors; the texts are TensorFlow 2.21's."""

import re

import numpy as np
import pytest

from intaglio import tf

INT = "TensorSpec(shape=(None,), dtype=tf.int32, name=None)"


def message(error, call):
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


@pytest.fixture
def plain():
    return tf.function(lambda a, b=2, *, c=3: a + b + c)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda f, t: f(), "missing a required argument: 'a'"),
        (lambda f, t: f(t, 1, 2), "too many positional arguments"),
        (lambda f, t: f(t, d=4), "got an unexpected keyword argument 'd'"),
        (lambda f, t: f(t, a=t), "multiple values for argument 'a'"),
    ],
)
def test_python_level_errors(plain, call, reason):
    t = tf.constant(1)
    plain(t), plain(t), plain(t)
    text = message(TypeError, lambda: call(plain, t))
    assert text.startswith(f"Binding inputs to tf.function failed due to `{reason}`.")
    assert text.endswith(
        "for signature: (a, b=<captured_default_value>, *, c=<captured_default_value>)."
    )


@pytest.fixture
def signed():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def g(x, y=5):
        return x + y

    return g


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda g: g(tf.constant([1]), 6), "Can not cast 6 to Literal[5]"),
        (
            lambda g: g(tf.constant([1.0])),
            f"Can not cast TensorSpec(shape=(1,), dtype=tf.float32, name=None) to {INT}",
        ),
        (
            lambda g: g(tf.constant([[1]])),
            f"Can not cast TensorSpec(shape=(1, 1), dtype=tf.int32, name=None) to {INT}",
        ),
        (lambda g: g(), "missing a required argument: 'x'"),
        (lambda g: g("a"), "Cannot convert 'a' to EagerTensor of dtype int32"),
    ],
)
def test_signature_errors(signed, call, reason):
    text = message(TypeError, lambda: call(signed))
    assert f"failed due to `{reason}`." in text
    assert f"for signature: (x: {INT}, y: Literal[5] = <captured_default_value>)." in text
    assert signed.experimental_get_tracing_count() == 0


def test_a_signature_is_traced_once_for_everything_that_fits(signed):
    for value in ([1], [1, 2], np.arange(3), tf.constant([4, 5])):
        assert signed(value).numpy().tolist() == [v + 5 for v in np.asarray(value)]
    assert signed(x=[1]).numpy().tolist() == [6]
    assert signed(tf.constant([1]), 5).numpy().tolist() == [6]
    assert signed.experimental_get_tracing_count() == 1
    assert signed.input_signature == (tf.TensorSpec([None], tf.int32),)
    assert signed.get_concrete_function().structured_input_signature == (
        (tf.TensorSpec([None], tf.int32, name="x"), 5),
        {},
    )


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        ([tf.TensorSpec([])], "input_signature missing type constraint for y"),
        ([tf.TensorSpec([])] * 3, "input_signature contains 1 extra type constraints."),
        (3, "input_signature must be either a tuple or a list, got <class 'int'>."),
        (
            [3, tf.TensorSpec([])],
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args [3] with types "
            "[<class 'int'>].",
        ),
    ],
)
def test_signatures_that_do_not_fit_the_function(signature, text):
    def decorate():
        tf.function(lambda x, y: x, input_signature=signature)

    if "invalid args" in text:
        assert "must be a possibly nested sequence of TensorSpec" in message(TypeError, decorate)
    else:
        assert message(TypeError, decorate) == text


def test_nested_signatures():
    spec = {"a": tf.TensorSpec([None]), "b": (tf.TensorSpec([]), tf.TensorSpec([]))}

    @tf.function(input_signature=[spec])
    def h(d):
        return d["a"] + d["b"][1]

    assert h({"b": (1, 2.0), "a": [1.0, 2.0]}).numpy().tolist() == [3.0, 4.0]
    concrete = h.get_concrete_function()
    assert [t.name for t in concrete.inputs] == ["d:0", "d_1:0", "d_2:0"]
    names = [s.name for s in tf.nest.flatten(concrete.structured_input_signature)]
    assert names == ["d_a", "d_b_0", "d_b_1"]
    assert "Can not cast [1, 2.0] to tuple type." in message(
        TypeError, lambda: h({"b": [1, 2.0], "a": [1.0]})
    )
    assert "{'a': [1.0]} has different keys with the TraceType Dict[" in message(
        TypeError, lambda: h({"a": [1.0]})
    )


def test_signatures_of_methods_leave_out_self():
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def __call__(self, x):
            return x * 2

    model = Model()
    assert model([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
    assert model(tf.constant([1.0])).numpy().tolist() == [2.0]
    assert type(model).__call__.__get__(model).experimental_get_tracing_count() == 1


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "names"),
    [
        (lambda d: d, ({"b": 0, "a": [0, (0, 0)]},), {}, "d_1 d_2 d_3 d"),
        (lambda *args: args, (0, 0, 0), {}, "args_0 args_1 args_2"),
        (lambda a, *args, **kw: a, (0, 0), {"q": 0, "r": 0}, "a args_0 q r"),
        (lambda x, x_1: x, ([0, 0], 0), {}, "x x_1 x_1_1"),
    ],
)
def test_placeholders_are_named_as_in_tensorflow(function, args, kwargs, names):
    args, kwargs = tf.nest.map_structure(lambda _: tf.constant(1.0), (args, kwargs))
    concrete = tf.function(function).get_concrete_function(*args, **kwargs)
    assert [t.op.name for t in concrete.inputs] == names.split()


def test_names_of_specs_name_the_placeholders():
    f = tf.function(lambda a, b: a + b)
    spec = tf.TensorSpec([], tf.float32, name="foo")
    concrete = f.get_concrete_function(spec, spec)
    assert [t.op.name for t in concrete.inputs] == ["foo", "foo_1"]
    t = tf.constant(1.0)
    assert float(f(t, t)) == 2.0
    assert f.experimental_get_tracing_count() == 1


def test_signature_texts():
    @tf.function
    def h(x, n=3, *a, k="z", **kw):
        return None

    t = tf.constant(1.0)
    concrete = h.get_concrete_function(t, [1, {"a": 2.5}], t, True, w=None, q=int)
    text = re.sub("0x[0-9a-f]+", "0x", concrete.pretty_printed_signature())
    assert text == (
        "Input Parameters:\n"
        "  x (POSITIONAL_ONLY): TensorSpec(shape=(), dtype=tf.float32, name=None)\n"
        "  n (POSITIONAL_ONLY): List[Literal[1], Dict[['a', Literal[2.5]]]]\n"
        "  a_0 (POSITIONAL_ONLY): TensorSpec(shape=(), dtype=tf.float32, name=None)\n"
        "  a_1 (POSITIONAL_ONLY): Literal[True]\n"
        "  k (KEYWORD_ONLY): Literal['z']\n"
        "  q (KEYWORD_ONLY): Weakref[<weakref at 0x; to 'type' at 0x (int)>])\n"
        "  w (KEYWORD_ONLY): Literal[None]\n"
        "Output Type:\n  Literal[None]\nCaptures:\n  None"
    )
    args, kwargs = concrete.structured_input_signature
    assert args[1:] == ([1, {"a": 2.5}], tf.TensorSpec([], name="a_0"), True)
    assert (kwargs["k"], kwargs["w"]) == ("z", None)
    assert type(kwargs["q"]).__name__ == "UnknownArgument"


def test_signatures_show_where_positional_and_keyword_only_parameters_end():
    @tf.function
    def f(x, /, y, *, z=1, b=2, **more):
        return x

    one = tf.constant(1.0)
    concrete = f.get_concrete_function(one, one, z=one, b=one, q=one, a=one)
    names = [v.op.name for v in concrete.inputs]  # TensorFlow passes them by name
    assert names == ["x", "y", "a", "b", "q", "z"]
    assert list(concrete.structured_input_signature[1]) == ["z", "b", "a", "q"]
    spec = "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    assert concrete.pretty_printed_signature(False).startswith(
        f"(x: {spec}, /, y: {spec}, *, z: {spec}, b: {spec}, a: {spec}, q: {spec}) -> "
    )
    assert str(f.function_type).startswith("(x, /, y, *, z=")
    with pytest.raises(TypeError, match="'x' parameter is positional only"):
        f(x=1, y=2)


def test_keyword_only_tensors_reach_their_parameters():
    @tf.function
    def f(*, z, b, a=0.0):
        return z * 100.0 + b * 10.0 + a

    z, b = tf.constant(1.0), tf.constant(2.0)
    for _ in range(4):
        assert f(z=z, b=b) == 120.0
        assert f(b=b, z=z, a=tf.constant(3.0)) == 123.0
    assert f.get_concrete_function(z=z, b=b)(z=z, b=b, a=0.0) == 120.0


def test_input_signature_with_keyword_only_defaults():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x, *, y=3, b=1):
        return x * float(y)

    assert f([1.0], y=3) == [3.0]
    with pytest.raises(TypeError, match=r"Can not cast 4 to Literal\[3\].*\*, y:"):
        f([1.0], y=4)
    with pytest.raises(TypeError, match="keyword-only parameter `y` must have"):
        tf.function(lambda x, *, y: x, input_signature=[tf.TensorSpec([])])


def test_input_signature_and_keywords_it_does_not_have():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x, **more):
        return x

    with pytest.raises(TypeError, match="got an unexpected keyword argument 'b'"):
        f([1.0], b=2)


def test_varargs_make_parameters_positional_only():
    @tf.function
    def f(x, y=2, *rest):
        return x

    concrete = f.get_concrete_function(tf.constant(1.0))
    assert "y (POSITIONAL_ONLY): Literal[2]" in concrete.pretty_printed_signature()


def test_a_tensor_equal_to_a_traced_value_may_replace_it():
    @tf.function
    def f(x, y):
        return x * y

    concrete = f.get_concrete_function(tf.TensorSpec([None]), 3.0)
    assert concrete(tf.constant([1.0]), tf.constant(3.0)) == [3.0]
    with pytest.raises(TypeError, match="Can not cast"):
        concrete(tf.constant([1.0]), tf.constant([3.0, 3.0]))


def test_a_tensor_for_a_variable_is_refused():
    @tf.function
    def f(v):
        return v + 1.0

    concrete = f.get_concrete_function(tf.Variable(1.0))
    assert concrete(tf.Variable(2.0)) == 3.0
    with pytest.raises(TypeError, match=r"Can not cast .* to VariableSpec"):
        concrete(1.0)


@pytest.mark.parametrize(
    ("spec", "value", "note"),
    [
        (
            {"ids": tf.TensorSpec([None], tf.int32), "w": tf.TensorSpec([2])},
            {"ids": [1], "w": [1.0, 2.0, 3.0]},
            "batch['w'] is [1.0, 2.0, 3.0]; the signature has a tensor of float32, shape (2,)",
        ),
        (
            (tf.TensorSpec([]), [tf.TensorSpec([], tf.int32)]),
            (1.0, [tf.constant(1.5)]),
            "batch[1][0] is of float32, shape (); the signature has a tensor of int32, shape ()",
        ),
    ],
)
def test_the_part_that_does_not_fit_is_named(spec, value, note):
    f = tf.function(lambda batch: 0, input_signature=[spec])
    with pytest.raises(TypeError, match="Binding inputs to") as e:
        f(value)
    assert e.value.__notes__ == [note]


def test_specs_in_structures_fit_a_signature() -> None:
    """As TensorFlow 2.21 answers: Keras asks for the trace of a signature by the signature."""
    pair = [tf.TensorSpec([None, 4]), tf.TensorSpec([None, 3])]
    for signature in (pair, tuple(pair), {"a": pair[0], "b": (pair[1],)}):
        f = tf.function(tf.nest.flatten, input_signature=[signature], autograph=False)
        again = f.get_concrete_function(signature)
        assert again is f.get_concrete_function()
    f = tf.function(lambda v: v[0][:, :3] + v[1], input_signature=[pair])
    exact = f.get_concrete_function([tf.TensorSpec([2, 4]), tf.zeros([2, 3])])
    assert exact is f.get_concrete_function(pair)
    assert f([tf.ones([2, 4]), tf.ones([2, 3])]).numpy().tolist() == [[2.0] * 3] * 2
    for wrong in (tf.TensorSpec([2, 5]), tf.TensorSpec([2, 3], tf.float64)):
        with pytest.raises(TypeError, match="Can not cast TensorSpec"):
            f.get_concrete_function([tf.TensorSpec([2, 4]), wrong])
