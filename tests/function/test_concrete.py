"""Concrete functions: getting, printing, calling; the texts are TensorFlow 2.21's."""

import re

import pytest

from intaglio import tf


@pytest.fixture
def k():
    @tf.function
    def k(x, y, n=2):
        return x * n, {"z": y}

    return k.get_concrete_function(tf.TensorSpec([None]), [tf.TensorSpec([], tf.int32), 4], 3)


V = tf.constant([1.0, 2.0])
I = tf.constant(5)


@pytest.mark.parametrize(
    "call",
    [
        lambda k: k(V, I),
        lambda k: k(V, [I, 4], 3),
        lambda k: k(V, y=[I, 4], n=3),
        lambda k: k(x=V, y=I),
        lambda k: k([1.0, 2.0], [5, 4], 3),
    ],
)
def test_calls_by_structure_and_by_tensors_alone(k, call):
    scaled, rest = call(k)
    assert scaled.numpy().tolist() == [3.0, 6.0]
    assert [int(v) for v in rest["z"]] == [5, 4]


@pytest.mark.parametrize(
    ("call", "structured", "flat"),
    [
        (
            lambda k: k(V, [I, 5], 3),
            "Can not cast 5 to Literal[4]",
            "k(x, y) takes 2 positional arguments, got 3.",
        ),
        (
            lambda k: k(V),
            "missing a required argument: 'y'",
            "k(x, y) missing required arguments: y.",
        ),
        (
            lambda k: k(V, I, q=1),
            "missing a required argument: 'n'",
            "k(x, y) got unexpected keyword arguments: q.",
        ),
        (
            lambda k: k(V, None),
            "missing a required argument: 'n'",
            "k(x, y): expected argument #1(zero-based) to be a Tensor; got NoneType (None).",
        ),
        (
            lambda k: k(V, I, I),
            f"Can not cast {I!r} to list type.",
            "k(x, y) takes 2 positional arguments, got 3.",
        ),
    ],
)
def test_calls_that_fit_neither_form(k, call, structured, flat):
    with pytest.raises(TypeError) as raised:
        call(k)
    text = str(raised.value)
    assert text.startswith(f"Binding inputs to tf.function failed due to `{structured}`.")
    assert text.endswith(f"Fallback to flat signature also failed due to: {flat}")


@pytest.mark.parametrize(
    ("args", "index", "wanted", "got"),
    [((I, I), 0, "float", "int32"), ((V, V), 1, "int32", "float")],
)
def test_a_tensor_of_the_wrong_dtype(k, args, index, wanted, got):
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        k(*args)
    assert re.fullmatch(
        rf"cannot compute (__inference_k_\d+) as input #{index}\(zero-based\) was expected to be a {wanted} tensor "
        rf"but is a {got} tensor \[Op:\1\]",
        str(raised.value),
    )


def test_specs_find_the_trace_of_tensors():
    f = tf.function(lambda a: a + a)
    f(tf.constant("a"))
    concrete = f.get_concrete_function(tf.TensorSpec([], tf.string))
    assert concrete is f.get_concrete_function(tf.constant("b"))
    assert concrete(a=tf.constant("b")).numpy() == b"bb"
    assert f.experimental_get_tracing_count() == 1


def test_how_it_prints():
    @tf.function
    def double(a):
        return a + a

    concrete = double.get_concrete_function(tf.TensorSpec(None, tf.string))
    signature = (
        "Input Parameters:\n"
        "  a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=<unknown>, dtype=tf.string, name=None)\n"
        "Output Type:\n"
        "  TensorSpec(shape=<unknown>, dtype=tf.string, name=None)\n"
        "Captures:\n"
        "  None"
    )
    assert concrete.pretty_printed_signature() == signature
    assert double.pretty_printed_concrete_signatures() == signature
    assert str(concrete) == f"ConcreteFunction {signature}"
    assert repr(concrete).startswith(
        "<ConcreteFunction (a: TensorSpec(shape=<unknown>, dtype=tf.string, name=None)) -> "
        "TensorSpec(shape=<unknown>, dtype=tf.string, name=None) at 0x"
    )
    assert re.fullmatch(rb"__inference_double_\d+", concrete.name)


def test_attributes_of_its_graph():
    big = tf.ones([300])

    @tf.function
    def f(x):
        return {"b": (x, None), "a": x + big}

    concrete = f.get_concrete_function(tf.TensorSpec([], name="x"))
    assert [t.name for t in concrete.inputs] == ["x:0", "add/y:0"]
    assert [t.name for t in concrete.outputs] == ["Identity:0", "Identity_1:0"]
    assert str(concrete.structured_outputs["b"][0]) == (
        'Tensor("Identity_1:0", shape=(), dtype=float32)'
    )
    assert concrete.output_dtypes == {"b": (tf.float32, None), "a": tf.float32}
    assert concrete.output_shapes["a"] == [300]
    assert concrete.captured_inputs[0] is big
    assert concrete.graph.captures[0][0] is big
    assert isinstance(concrete.graph, tf.Graph)
    assert [n.name for n in concrete.graph.get_operations()] == [
        "x",
        "add/y",
        "add",
        "Identity",
        "Identity_1",
    ]
    assert concrete.variables == ()
    assert list(concrete.function_type.parameters) == ["x"]


def test_kinds():
    kinds = tf.types.experimental
    f = tf.function(lambda x: x)
    concrete = f.get_concrete_function(tf.constant(1))
    assert isinstance(f, kinds.GenericFunction)
    assert isinstance(f, kinds.PolymorphicFunction)
    assert isinstance(concrete, kinds.ConcreteFunction)
    assert isinstance(concrete.inference_fn, kinds.AtomicFunction)
    assert int(concrete.inference_fn.call_flat(tf.constant(4))[0]) == 4
    assert isinstance(concrete.function_type, kinds.FunctionType)


def test_concrete_functions_inside_functions():
    square = tf.function(lambda x: x * x).get_concrete_function(tf.TensorSpec([]))
    assert float(tf.function(lambda x: square(x) + 1)(tf.constant(3.0))) == 10.0


def test_arguments_are_not_kept_alive():
    import gc
    import weakref

    t = tf.ones([3])
    ref = weakref.ref(t)
    f = tf.function(lambda x: x + 1)
    for _ in range(5):
        f(t)
    del t
    gc.collect()
    assert ref() is None


def test_other_tensors_can_replace_captures():
    """As TensorFlow 2.21 does; a wrong number it refuses at the next call."""
    v, w = tf.Variable(3.0), tf.Variable(5.0)
    multiply = tf.function(lambda x: x * v)
    two = tf.constant(2.0)
    concrete = multiply.get_concrete_function(two)
    assert [float(multiply(two)) for _ in range(4)] == [6.0] * 4
    concrete.set_external_captures([w.handle])
    assert concrete.captured_inputs[0] is w.handle
    assert float(concrete(two)) == 10.0
    assert [float(multiply(two)) for _ in range(3)] == [10.0] * 3
    assert concrete.variables[0] is v
    concrete.set_variables([w])
    assert concrete.variables[0] is w
    with tf.GradientTape() as tape:
        y = concrete(two)
    assert float(tape.gradient(y, w)) == 2.0

    @tf.function
    def outer(x):
        return concrete(x)

    assert [float(outer(two)) for _ in range(3)] == [10.0] * 3
    with pytest.raises(ValueError, match="captures 1 tensors, got 0"):
        concrete.set_external_captures([])


def test_a_function_without_parameters_is_printed():
    concrete = tf.function(lambda: tf.constant(1)).get_concrete_function()
    shown = re.sub("0x[0-9A-F]+", "0x", repr(concrete))
    assert shown == (
        "<ConcreteFunction () -> TensorSpec(shape=(), dtype=tf.int32, name=None) at 0x>"
    )
