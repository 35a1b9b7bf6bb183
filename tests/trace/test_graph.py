"""tf.Graph and the graphs of functions: names, look-up, captures, scopes."""

import pytest

from intaglio import tf


def names(function, *args):
    graph = tf.function(function).get_concrete_function(*args).graph
    return [n.name for n in graph.get_operations()]


def test_constants_are_named_after_the_op_that_takes_them():
    c = tf.constant([1, 2])

    def g(x):
        y = x + c
        z = y + c
        return z, tf.constant(1) + 1, x * 2

    assert names(g, c) == [
        "x",
        "add/y",
        "add",
        "add_1",
        "Const",
        "add_2/y",
        "add_2",
        "mul/y",
        "mul",
        "Identity",
        "Identity_1",
        "Identity_2",
    ]


def test_name_scopes():
    def f(x):
        with tf.name_scope("outer") as outer:
            assert outer == "outer/"
            y = x + 1
            with tf.name_scope("inner"):
                y = y * 2
                assert tf.get_current_name_scope() == "outer/inner"
        with tf.name_scope("outer"):
            y = y + 1
        with tf.name_scope(outer):
            return y * 3

    assert names(f, tf.constant(1))[1:-1] == [
        "outer/add/y",
        "outer/add",
        "outer/inner/mul/y",
        "outer/inner/mul",
        "outer_1/add/y",
        "outer_1/add",
        "outer/mul/y",
        "outer/mul",
    ]
    with tf.name_scope("a") as scope:
        assert scope == "a/" and tf.get_current_name_scope() == "a"
    with pytest.raises(ValueError, match="name for name_scope must be a string"):
        tf.name_scope(None)


def test_looking_things_up():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1, name="a")
        b = a + 2
    assert graph.get_operation_by_name("a") is a.op
    assert graph.get_tensor_by_name("add:0") is b
    assert graph.as_graph_element("add:0") is b
    assert graph.as_graph_element(a) is a
    with pytest.raises(KeyError, match="not in the graph"):
        graph.get_operation_by_name("nothing")
    with pytest.raises(ValueError, match="not a Tensor"):
        graph.get_tensor_by_name("add")
    with pytest.raises(KeyError, match="only has 1 outputs"):
        graph.get_tensor_by_name("add:3")
    with pytest.raises(TypeError):
        graph.get_operation_by_name(3)
    assert isinstance(a.op, tf.Operation)
    assert (a.op.type, b.op.inputs[0] is a) == ("Const", True)


def test_a_finalized_graph_takes_nothing_more():
    graph = tf.Graph()
    graph.finalize()
    assert graph.finalized
    with graph.as_default(), pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1, name="a")


def test_collections():
    graph = tf.Graph()
    graph.add_to_collection("k", 1)
    assert graph.get_collection("k") == [1] and graph.get_collection("z") == []


def test_tensors_of_another_graph():
    with tf.Graph().as_default():
        a = tf.constant(1)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="same graph"):
        a + 1


def test_control_dependencies():
    @tf.function
    def f(x):
        first = x + 1
        with tf.control_dependencies([first]):
            second = x * 2
            with tf.control_dependencies(None):
                third = x * 3
        return second, third

    graph = f.get_concrete_function(tf.constant(1)).graph
    control = {n.name: [c.name for c in n.control_inputs] for n in graph.nodes}
    assert control["mul/y"] == ["add"] and control["mul"] == []
    assert control["mul_1"] == control["mul_1/y"] == []
    with tf.control_dependencies([tf.constant(1)]):
        assert int(tf.constant(1) + 1) == 2


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("kind", [iter, set, lambda nodes: (n for n in nodes), tuple])
def test_control_dependencies_may_be_generated(kind, inside):
    def f():
        first = tf.constant(1) + 1
        with tf.control_dependencies(kind([first.op])):
            return tf.constant(2) + 2

    with tf.Graph().as_default():
        y = tf.function(f).get_concrete_function().outputs[0].op.inputs[0] if inside else f()
    waits = {c.name for i in y.op.inputs for c in i.op.control_inputs}
    assert waits == {"add"}


@pytest.mark.parametrize("inside", [False, True])
def test_control_dependencies_on_all_kinds_of_values(inside):
    """TensorFlow's answers: functions take any structure, and what is no tensor is there."""
    variable = tf.Variable(3)
    ragged = tf.ragged.constant([[1]])
    slices = tf.IndexedSlices(tf.ones([2]), tf.constant([0, 1]))
    kinds = [variable, [variable], {"a": variable}, ragged, slices, [], 1, "a", tf.data.Dataset]

    def f():
        for kind in kinds:
            with tf.control_dependencies([kind]):
                variable.assign_add(1)
        tf.group(variable, [ragged, {"a": slices}])
        return variable.read_value()

    assert int(tf.function(f)() if inside else f()) == 3 + len(kinds)


def test_what_is_no_control_dependency():
    """The classes of error are TensorFlow's."""
    variable = tf.Variable(3)
    with pytest.raises(TypeError, match="Can not convert a NoneType"):
        tf.function(lambda: tf.control_dependencies([None]).__enter__())()
    with (
        tf.Graph().as_default() as graph,
        pytest.raises(TypeError, match="Can not convert a ResourceVariable"),
    ):
        graph.control_dependencies([variable])
    for wrong in (1, "a", None):
        with pytest.raises(TypeError, match=r"should be zero or more \(nested\) Tensors"):
            tf.function(lambda wrong=wrong: tf.group(wrong))()
    with pytest.raises(TypeError, match="must only contain Operation or Tensor"):
        tf.function(lambda: tf.tuple([tf.constant(1)], control_inputs=[variable]))()


def test_waiting_for_the_parts_of_a_structure():
    @tf.function
    def f(x):
        parts = {"a": [x + 1], "b": tf.IndexedSlices(x * 2, x, x - 1)}
        with tf.control_dependencies([parts]):
            return tf.negative(x)

    graph = f.get_concrete_function(tf.constant([1])).graph
    waiting = next(n for n in graph.nodes if n.type == "Neg").control_inputs
    assert [n.type for n in waiting] == ["AddV2", "Mul", "Placeholder", "Sub"]


def test_devices():
    @tf.function
    def f(x):
        with tf.device("/CPU:0"):
            return x + 1

    graph = f.get_concrete_function(tf.constant(1)).graph
    assert graph.get_operation_by_name("add").device == "/device:CPU:0"
    with tf.device("CPU:0"):
        assert int(tf.constant(1) + 1) == 2
    with pytest.raises(ValueError, match="Unknown attribute 'nonsense'"), tf.device("/nonsense:0"):
        pass


def test_init_scope_leaves_all_functions():
    seen = []

    @tf.function
    def inner():
        with tf.init_scope():
            seen.append(tf.constant(1) + 1)

    @tf.function
    def outer():
        inner()

    outer()
    assert [int(t) for t in seen] == [2]


def test_init_scope_keeps_the_name_scope():
    """Keras 2 makes the variables of layers there. TensorFlow 2.21 was asked."""
    made = []

    @tf.function
    def f():
        with tf.name_scope("a"):
            with tf.init_scope():
                assert tf.get_current_name_scope() == "a"
                if not made:
                    made.append(tf.Variable(1.0, name="v"))
            assert tf.get_current_name_scope() == "a"
        with tf.init_scope():
            assert tf.get_current_name_scope() == ""
        return made[0] + 1.0

    with tf.name_scope("around"):
        assert float(f()) == 2.0
        with tf.init_scope():
            assert tf.Variable(1.0, name="v").name == "around/v:0"
    assert made[0].name == "a/v:0"

    with tf.Graph().as_default(), tf.name_scope("g"), tf.init_scope():
        assert tf.get_current_name_scope() == "g"
        assert tf.constant(1.0).name == "g/Const:0"


def test_init_scope_hides_from_tapes():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.init_scope():
            y = x * x
    assert tape.gradient(y, x) is None


def test_init_scope_stops_at_a_plain_graph():
    graph = tf.Graph()
    with graph.as_default():

        @tf.function
        def f(x):
            with tf.init_scope():
                assert not tf.executing_eagerly()
                made.append(tf.constant(1, name="lifted"))
            return x

        made = []
        f(tf.constant(1))
    assert made[0].graph is graph


def test_symbolic_tensors():
    seen = []

    def look(x):  # not converted: text of symbolic tensors warns there
        seen.append((str(x), repr(x), tf.is_symbolic_tensor(x), hasattr(x, "numpy")))
        return x

    f = tf.function(look, autograph=False)

    f.get_concrete_function(tf.TensorSpec([None, 2]))
    f.get_concrete_function(tf.TensorSpec(None))
    assert seen[0][:2] == (
        'Tensor("x:0", shape=(None, 2), dtype=float32)',
        "<tf.Tensor 'x:0' shape=(None, 2) dtype=float32>",
    )
    assert seen[1][:2] == (
        'Tensor("x:0", dtype=float32)',
        "<tf.Tensor 'x:0' shape=<unknown> dtype=float32>",
    )
    assert seen[0][2:] == (True, False)
    assert not tf.is_symbolic_tensor(tf.constant(1))
