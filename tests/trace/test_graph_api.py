"""tf.Graph and tf.Operation as TensorFlow documents them; the texts are TensorFlow 2.21's."""

import pytest

from intaglio import tf


@pytest.fixture
def graph():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1.0, name="a")
        with graph.device("/CPU:0"):
            tf.multiply(a, tf.constant([2.0, 3.0], name="b"), name="c")
    return graph


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda g: g.as_graph_element("zz"), KeyError, "an Operation not in the graph"),
        (lambda g: g.as_graph_element("zz:0"), KeyError, "'zz', does not exist"),
        (lambda g: g.as_graph_element("a:1"), KeyError, "only has 1 outputs"),
        (lambda g: g.as_graph_element("a:" + "9" * 5000), KeyError, "only has 1"),
        (lambda g: g.as_graph_element("a:x"), ValueError, "is not a valid one"),
        (lambda g: g.as_graph_element(3), TypeError, "int into a Tensor or Operation"),
        (lambda g: g.as_graph_element("a:0", False), ValueError, "appears to refer to"),
        (lambda g: g.as_graph_element("a", True, False), ValueError, "an Operation, not"),
        (lambda g: g.as_graph_element("z", True, False), ValueError, r"\(invalid\)"),
        (lambda g: g.as_graph_element("a", False, False), ValueError, "both be False"),
        (lambda g: g.get_operation_by_name("a:0"), ValueError, "not a Operation"),
        (lambda g: g.get_operation_by_name(3), TypeError, "similar\\), not int"),
        (lambda g: g.get_tensor_by_name("a"), ValueError, "refers to an Operation"),
        (lambda g: g.get_tensor_by_name(3), TypeError, "similar\\), not int"),
        (
            lambda g: g.as_graph_element(g.get_tensor_by_name("a:0"), False),
            TypeError,
            "Can not convert a SymbolicTensor into a Operation",
        ),
        (
            lambda g: tf.Graph().as_graph_element(g.get_tensor_by_name("a:0")),
            ValueError,
            "is not an element of this graph",
        ),
    ],
)
def test_looking_for_what_is_not_there(graph, call, error, text):
    with pytest.raises(error, match=text):
        call(graph)


def test_elements_by_name_and_by_themselves(graph):
    c = graph.get_operation_by_name("c")
    assert graph.as_graph_element("c") is c
    assert graph.as_graph_element(c) is c
    assert graph.as_graph_element("c:0") is c.outputs[0]
    assert graph.as_graph_element(c.outputs[0]) is c.outputs[0]


def test_collections(graph):
    a, b = (graph.get_tensor_by_name(f"{n}:0") for n in "ab")
    graph.add_to_collection("k", a)
    graph.add_to_collections(["k", "l", "l"], b)
    graph.get_collection_ref("m").append(1)
    assert graph.collections == ["k", "l", "m"]
    assert [v is w for v, w in zip(graph.get_collection("k"), [a, b], strict=True)]
    assert graph.get_collection("k", "b")[0] is b
    assert graph.get_collection("m", "b") == []
    graph.clear_collection("k")
    assert graph.get_all_collection_keys() == ["l", "m"]
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        graph.add_to_collection("k", a)


def test_feeding_and_fetching_can_be_forbidden(graph):
    a = graph.get_tensor_by_name("a:0")
    assert graph.is_feedable(a)
    assert graph.is_fetchable(a)
    graph.prevent_feeding(a)
    graph.prevent_fetching(a.op)
    assert not graph.is_feedable(a)
    assert not graph.is_fetchable(a)
    assert graph.is_feedable(graph.get_tensor_by_name("b:0"))


def test_attributes_as_tensorflow_gives_them(graph):
    with graph.as_default():
        image, kernel = tf.zeros([1, 4, 4, 1]), tf.zeros([2, 2, 1, 1])
        conv = tf.nn.conv2d(image, kernel, 1, "SAME").op
        holder = tf.raw_ops.Placeholder(dtype=tf.float32, shape=[2, None]).op
        stack = tf.stack([image, image]).op
    assert conv.get_attr("padding") == b"SAME"
    assert conv.get_attr("strides") == [1, 1, 1, 1]
    assert conv.get_attr("T") is tf.float32
    assert [d.size for d in holder.get_attr("shape").dim] == [2, -1]
    assert stack.get_attr("N") == 2
    constant = graph.get_operation_by_name("a")
    assert constant.get_attr("value").float_val == [1.0]
    assert constant.get_attr("dtype") is tf.float32
    with pytest.raises(ValueError, match="Operation 'a' has no attr named 'zz'"):
        constant.get_attr("zz")


def test_operations_print_as_messages_and_do_not_run(graph):
    c = graph.get_operation_by_name("c")
    assert str(c) == str(c.node_def)
    assert str(c).startswith('name: "c"\nop: "Mul"\ninput: "a"\ninput: "b"\n')
    assert repr(c) == "<tf.Operation 'c' type=Mul>"
    assert c.device == "/device:CPU:0"
    with pytest.raises(ValueError, match="Cannot execute operation using `run"):
        c.run()
    with pytest.raises(ValueError, match="Cannot evaluate tensor using `eval"):
        c.outputs[0].eval()
    assert graph.graph_def_versions.producer == 2474


def test_colocation():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1.0, name="a")
        with graph.colocate_with(a):
            b = tf.constant(2.0) + a
        assert (a + b).op.colocation_groups() == [b"loc:@add_1"]
        with pytest.raises(TypeError, match="must be an Operation or a Tensor"):
            graph.colocate_with(3)
    assert a.op.colocation_groups() == [b"loc:@a"]
    assert b.op.colocation_groups() == [b"loc:@a"]
    assert b.op.get_attr("_class") == [b"loc:@a"]


# (outer device, inner device, device of an operation): recorded from TensorFlow.
@pytest.mark.parametrize(
    ("outer", "inner", "placed"),
    [
        ("/CPU:0", None, ""),
        ("/cpu:0", "/job:a", "/job:a/device:CPU:0"),
        ("/job:w/task:1", "/device:CPU:0", "/job:w/task:1/device:CPU:0"),
        ("/CPU:0", "", "/device:CPU:0"),
        ("CPU:0", "/GPU:1", "/device:GPU:1"),
        (
            "/job:localhost/replica:0/task:0/device:CPU:0",
            "/gpu:0",
            "/job:localhost/replica:0/task:0/device:GPU:0",
        ),
    ],
)
def test_devices_inside_devices(outer, inner, placed):
    with tf.Graph().as_default(), tf.device(outer), tf.device(inner):
        assert tf.constant(1).op.device == placed


def test_plain_graphs_have_no_inputs_of_their_own():
    variable, value = tf.Variable(3.0), tf.constant(5.0)
    with tf.Graph().as_default():
        for call in (lambda: variable + 1.0, lambda: value + 1.0):
            with pytest.raises(RuntimeError, match="Attempting to capture an Eager"):
                call()


def test_captured_values_are_named_after_the_argument_that_takes_them():
    vector = tf.constant([1.0] * 200)

    @tf.function
    def f(x):
        return x + vector

    graph = f.get_concrete_function(tf.TensorSpec([])).graph
    assert graph.inputs[1].op.get_attr("_user_specified_name") == b"y"


def test_shapes_as_messages():
    assert [d.size for d in tf.TensorShape([1, None]).as_proto().dim] == [1, -1]
    assert tf.TensorShape(None).as_proto().unknown_rank


def test_functions_as_messages():
    @tf.function
    def f(x, y):
        return x * y, y

    spec = tf.TensorSpec([None])
    message = f.get_concrete_function(spec, spec).function_def
    assert message.signature.name.startswith("__inference_f_")
    assert [a.name for a in message.signature.input_arg] == ["x", "y"]
    assert [n.op for n in message.node_def] == ["Mul", "Identity", "Identity"]
    assert dict(message.ret) == {
        "identity": "Identity:output:0",
        "identity_1": "Identity_1:output:0",
    }


def test_what_is_there_for_one_process_and_thread() -> None:
    graph = tf.Graph()
    with graph.as_default(), graph.container("box") as name:
        a = tf.constant(1.0)
    assert name == "box" and a.graph is graph
    assert graph.switch_to_thread_local() is None
    assert graph.op_def_for_type("AddV2").name == "AddV2"
    with pytest.raises(KeyError, match="not registered 'Nope'"):
        graph.op_def_for_type("Nope")


OTHERS = ["/job:x", "/replica:1", "/task:3", "/job:worker/task:0/device:CPU:0"]


@pytest.mark.parametrize("name", OTHERS)
def test_devices_of_other_processes_are_refused(name: str) -> None:
    """At once, and in a graph when it runs; asked of TensorFlow 2.21."""

    @tf.function
    def f(x):
        with tf.device(name):
            return x + 1

    with (
        pytest.raises(tf.errors.InvalidArgumentError, match=r"device:CPU:0 unknown device"),
        tf.device(name),
    ):
        tf.constant(1)
    concrete = f.get_concrete_function(tf.TensorSpec([], tf.int32))
    assert concrete.graph.outputs[0].op.inputs[0].op.device.startswith(name[:4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy device"):
        f(tf.constant(1))


@pytest.mark.parametrize(
    "name", ["/job:localhost", "/cpu:1", "/device:GPU:7", "/replica:0/task:0", "/CPU", None]
)
def test_devices_that_are_not_there_are_the_processor(name: str | None) -> None:
    with tf.device(name):
        assert tf.constant(1).device == "/job:localhost/replica:0/task:0/device:CPU:0"
        assert int(tf.function(lambda x: x + 1)(tf.constant(1))) == 2


def test_operations_are_created_by_their_types(graph):
    """TensorFlow was asked what each of these gives."""
    value = tf.compat.v1.AttrValue
    x = graph.get_tensor_by_name("c:0")
    a = graph.get_operation_by_name("a")
    made = graph.create_op("AddV2", [x, x], [tf.float32], name="s")
    assert repr(made) == "<tf.Operation 's' type=AddV2>"
    assert [(t.name, t.shape, t.dtype) for t in made.outputs] == [("s:0", [2], tf.float32)]
    assert made.get_attr("T") is tf.float32
    assert graph.create_op("AddV2", [x, x]).name == "AddV2"
    assert graph.create_op("AddV2", [x, x], name="s").name == "s_1"
    assert graph.create_op("AddV2", [x, x], input_types=[tf.float32] * 2).name
    cast = graph.create_op("Cast", [x], attrs={"DstT": value(type=3)})
    assert cast.outputs[0].dtype is tf.int32
    joined = {"N": value(i=2), "T": value(type=1)}
    assert graph.create_op("Pack", [x, x], attrs=joined).outputs[0].shape == [2, 2]
    types = value(list=value.ListValue(type=[1, 3]))
    both = graph.create_op("IdentityN", [x, cast.outputs[0]], attrs={"T": types})
    assert [t.dtype for t in both.outputs] == [tf.float32, tf.int32]
    with graph.name_scope("q"), graph.control_dependencies([a]):
        inside = graph.create_op("AddV2", [x, x], name="s")
        assert graph.create_op("NoOp", [], name="x/").name == "x"
    assert inside.name == "q/s"
    assert inside.control_inputs == [a]
    with graph.device("/CPU:0"):
        assert graph.create_op("NoOp", []).device == "/device:CPU:0"
        assert graph.create_op("NoOp", [], compute_device=False).device == ""
    assert graph.operations == graph.get_operations()
    assert graph.num_operations() == len(graph.operations)


@pytest.mark.parametrize(
    ("op_type", "inputs", "named", "error", "text"),
    [
        (
            "AddV2",
            "xx",
            {"input_types": [tf.int32, tf.float32]},
            TypeError,
            "not compatible with expected",
        ),
        ("AddV2", [1.0, 2.0], {}, TypeError, "0 is not a tensor: 1.0"),
        ("Cast", "x", {}, ValueError, "DstT"),
        ("Cast", "x", {"attrs": {"DstT": tf.int32}}, TypeError, "AttrValue"),
        ("AddV2", "x", {}, ValueError, "1 inputs, not 2"),
        ("AddV2", "xi", {}, ValueError, "int32"),
        ("NoSuchOp", "", {}, RuntimeError, "Op type not registered 'NoSuchOp'"),
    ],
)
def test_operations_that_cannot_be(graph, op_type, inputs, named, error, text):
    with graph.as_default():
        known = {"x": graph.get_tensor_by_name("c:0"), "i": tf.constant(1)}
    before = graph.num_operations()
    given = [known[i] for i in inputs] if isinstance(inputs, str) else inputs
    with pytest.raises(error, match=text):
        graph.create_op(op_type, given, **named)
    assert graph.num_operations() == before
    graph.finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized"):
        graph.create_op("NoOp", [])


def test_a_logical_device_is_its_name() -> None:
    # TensorFlow 2.21 was asked.
    (logical, *_) = tf.config.list_logical_devices("CPU")
    full = "/job:localhost/replica:0/task:0/device:CPU:0"
    with tf.device(logical):
        assert tf.constant(1.0).device == full
    for strategy in (
        tf.distribute.MirroredStrategy([logical]),
        tf.distribute.OneDeviceStrategy(logical),
        tf.distribute.experimental.CentralStorageStrategy([logical], logical),
    ):
        assert tuple(strategy.extended.worker_devices) == (full,)
    (physical, *_) = tf.config.list_physical_devices("CPU")
    with pytest.raises(ValueError, match="Expecting a string device name"), tf.device(physical):
        pass


def test_no_graph_is_in_a_context_of_older_control_flow() -> None:
    # TensorFlow 2.21 was asked, also inside of functions with jit_compile=True.
    assert tf.Graph()._control_flow_context is None

    @tf.function(jit_compile=True)
    def f(x):
        assert tf.compat.v1.get_default_graph()._control_flow_context is None
        return x

    assert f(tf.constant(1)).numpy() == 1
