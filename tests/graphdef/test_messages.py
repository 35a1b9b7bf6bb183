"""GraphDef: written, read, printed; bytes that are none are refused and never crash."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base import dtypes
from intaglio.graphdef import load, messages, tensors
from intaglio.graphdef.tensors import MalformedError
from intaglio.opdef import raw
from intaglio.trace.graph import record


def example() -> tf.Graph:
    """A graph with constants of two kinds, a list input and an attribute of each common kind."""

    def build(x: object) -> object:
        left, right = raw.Split(0, x, num_split=2)
        total = raw.Sum(raw.ConcatV2([left, right], 1), np.array([0], np.int32), keep_dims=True)
        return raw.Cast(total, DstT=dtypes.int64)

    return record(build, "f", [(dtypes.float32, (2, None), "x")])[0]


def test_nodes_have_tensorflows_form() -> None:
    proto = example().as_graph_def()
    nodes = {n.name: n for n in proto.node}
    assert nodes["x"].op == "Placeholder" and nodes["x"].attr["dtype"].type == 1
    assert [d.size for d in nodes["x"].attr["shape"].shape.dim] == [2, -1]
    assert list(nodes["ConcatV2"].input) == ["Split", "Split:1", "ConcatV2/axis"]
    assert nodes["ConcatV2"].attr["N"].i == 2 and nodes["ConcatV2"].attr["Tidx"].type == 3
    assert nodes["Sum"].attr["keep_dims"].b is True
    assert nodes["Cast"].attr["SrcT"].type == 1 and nodes["Cast"].attr["DstT"].type == 9
    assert proto.versions.producer > 0


def test_text_form_is_protobufs() -> None:
    lines = str(example().as_graph_def()).splitlines()
    assert lines[:3] == ["node {", '  name: "x"', '  op: "Placeholder"']
    assert "      type: DT_FLOAT" in lines


def test_bytes_round_trip_gives_the_same_graph() -> None:
    first = example().as_graph_def()
    again = tf.Graph()
    with again.as_default():
        load.import_graph_def(first.SerializeToString(), name="")
    second = again.as_graph_def()
    assert second == first
    assert [str(v.dims) for n in again.get_operations() for v in n.outputs] == [
        str(v.dims) for n in example().get_operations() for v in n.outputs
    ]


def test_import_maps_inputs_and_returns_elements() -> None:
    proto = example().as_graph_def()
    with tf.Graph().as_default() as graph:
        mine = graph.placeholder(dtypes.float32, (2, 5), "mine")
        tensor, operation = load.import_graph_def(
            proto, {"x:0": mine}, ["Sum:0", "Cast"], name="in"
        )
    assert tensor.dims == (1, 5 * 2) and tensor.name == "in/Sum:0"
    assert operation.type == "Cast" and operation.name == "in/Cast"
    assert any(o.name == "in/x" for o in graph.get_operations())  # as in TensorFlow


@pytest.mark.parametrize(
    "array",
    [
        np.float32(1.5),
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.array([1 + 1j], np.complex128),
        np.array([b"a", b"\x00"], object),
        np.array(b"s", object),
        np.zeros((0, 2), np.float64),
        np.array([True, False]),
        np.array([1, 2], np.uint64),
        np.array([0.5, -2], np.float16),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_tensors_round_trip(array: np.ndarray) -> None:
    read = tensors.array_of(tensors.tensor_proto(array))
    assert read.dtype == np.asarray(array).dtype and read.shape == np.shape(array)
    np.testing.assert_array_equal(read, array)


def test_a_short_value_list_repeats_its_last() -> None:
    proto = messages.TensorProto(dtype=1, tensor_shape=tensors.shape_proto((3,)), float_val=[1, 2])
    assert tensors.array_of(proto).tolist() == [1, 2, 2]


def test_impossible_tensors_are_refused() -> None:
    huge = messages.TensorProto(
        dtype=1, tensor_shape=tensors.shape_proto((1 << 40, 1 << 40)), float_val=[1]
    )
    wrong = messages.TensorProto(
        dtype=1, tensor_shape=tensors.shape_proto((3,)), tensor_content=b"123"
    )
    many = messages.TensorProto(dtype=1, tensor_shape=tensors.shape_proto((1,)), float_val=[1, 2])
    strange = messages.TensorProto(dtype=99)
    for proto in (huge, wrong, many, strange):
        with pytest.raises(MalformedError):
            tensors.array_of(proto)


def broken(change: str) -> object:
    proto = example().as_graph_def()
    nodes = {n.name: n for n in proto.node}
    if change == "cycle":
        nodes["Split"].input[1] = "Cast"
    elif change == "missing input":
        nodes["Cast"].input[0] = "nowhere"
    elif change == "few inputs":
        del nodes["ConcatV2"].input[0]
    elif change == "wrong type":
        nodes["Cast"].input[0] = "Split/split_dim"
        nodes["Sum"].input[1] = "x"
    elif change == "twice":
        proto.node.add().CopyFrom(nodes["x"])
    elif change == "no attribute":
        del nodes["Split"].attr["num_split"]
    elif change == "attribute of another kind":
        nodes["Split"].attr["num_split"].s = b"2"
    return proto


@pytest.mark.parametrize(
    "change",
    [
        "cycle",
        "missing input",
        "few inputs",
        "wrong type",
        "twice",
        "no attribute",
        "attribute of another kind",
    ],
)
def test_contradictions_are_refused(change: str) -> None:
    with tf.Graph().as_default(), pytest.raises(MalformedError):
        load.import_graph_def(broken(change), name="")


def test_an_unknown_op_is_named() -> None:
    proto = messages.GraphDef()
    proto.node.add(name="n", op="FlyToTheMoon")
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="Op type not registered 'FlyToTheMoon'"),
    ):
        load.import_graph_def(proto, name="")


BYTES = example().as_graph_def().SerializeToString()


@given(
    st.lists(
        st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), min_size=1, max_size=8
    ),
    st.integers(0, len(BYTES)),
)
@settings(max_examples=150, deadline=None)
def test_mutated_bytes_never_crash(changes: list[tuple[int, int]], end: int) -> None:
    data = bytearray(BYTES)
    for at, value in changes:
        data[at] = value
    for candidate in (bytes(data), bytes(data[:end])):
        # Refused with words, or read: anything else fails the test.
        with tf.Graph().as_default(), contextlib.suppress(ValueError, TypeError):
            load.import_graph_def(candidate, name="")


@tf.function
def every_kind(x, n):
    """A function whose graph has loops, branches, constants of several types and strings."""
    i = tf.constant(0)
    while i < n:
        x = tf.nn.relu(tf.matmul(x, tf.constant([[1.0, 2.0], [3.0, 4.0]])))
        i += 1
    y = tf.cond(n > 3, lambda: tf.reduce_sum(x, 0), lambda: x[0])
    return tf.strings.join([tf.as_string(y), "a"]), tf.cast(x, tf.float64)


WHOLE = (
    every_kind.get_concrete_function(tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32))
    .graph.as_graph_def()
    .SerializeToString()
)
TYPES = [1, 2, 3, 4, 6, 7, 8, 9, 10, 14, 18, 20, 21, 0, 999, -1]
NUMBERS = [-1, 0, 5, 1 << 62, -(1 << 63)]


def mutate(proto: Any, random: Random) -> None:
    """Changes one thing in a GraphDef: an input, attribute, op, name, constant or result."""
    nodes = [*proto.node, *(n for f in proto.library.function for n in f.node_def)]
    node, other = random.choice(nodes), random.choice(nodes)
    keys = sorted(node.attr)
    attr = node.attr[random.choice(keys)] if keys else None
    kind = random.randrange(8)
    if kind == 0 and node.input:
        names = [other.name, f"^{other.name}", f"{other.name}:1", f"{other.name}:z:0", ""]
        node.input[random.randrange(len(node.input))] = random.choice([*names, "x:" + "9" * 20])
    elif kind == 1 and attr is not None:
        attr.type = random.choice(TYPES)
    elif kind == 2 and attr is not None and other.attr:
        attr.CopyFrom(other.attr[random.choice(sorted(other.attr))])
    elif kind == 3 and keys:
        del node.attr[random.choice(keys)]
    elif kind == 4:
        node.op = other.op
    elif kind == 5:
        node.name = random.choice([other.name, "", "^x", "a:0", "x" * 1000, "_"])
    elif kind == 6 and attr is not None:
        distort(attr, random)
    elif kind == 7 and proto.library.function:
        function = random.choice(list(proto.library.function))
        if function.ret:
            key = random.choice(sorted(function.ret))
            function.ret[key] = random.choice(["nope", "a:b:c:d", ":", "x:0"])


def distort(attr: Any, random: Random) -> None:
    """Gives an attribute a value that it should not have."""
    if attr.HasField("tensor"):
        tensor = attr.tensor
        tensor.dtype = random.choice([tensor.dtype, *TYPES])
        tensor.tensor_shape.dim.add(size=random.choice(NUMBERS))
        tensor.tensor_content = bytes(random.randrange(20))
    else:
        random.choice(
            [
                lambda: setattr(attr, "i", random.choice(NUMBERS)),
                lambda: setattr(attr, "f", float("nan")),
                lambda: setattr(attr, "b", True),
                lambda: setattr(attr, "s", b"\xff\xfe"),
                lambda: attr.list.i.append(-7),
                attr.list.SetInParent,
                lambda: attr.shape.dim.add(size=-3),
                lambda: setattr(attr.func, "name", "nowhere"),
            ]
        )()


@given(st.randoms(use_true_random=False), st.integers(1, 4))
@settings(max_examples=300, deadline=2000)
def test_mutated_messages_are_read_or_refused_with_words(random: Random, n: int) -> None:
    proto = messages.GraphDef.FromString(WHOLE)
    for _ in range(n):
        mutate(proto, random)
    with tf.Graph().as_default():
        try:
            load.import_graph_def(proto, name="")
        except (ValueError, tf.errors.OpError) as e:
            assert str(e)


@pytest.mark.parametrize(
    ("op", "key", "value", "message"),
    [
        ("Sum", "Tidx", 8, "input 'axis' is int32, not complex64"),
        ("Sum", "keep_dims", None, "keep_dims"),
        ("MatMul", "T", 7, "float32, not string"),
    ],
)
def test_what_contradicts_is_named(op: str, key: str, value: Any, message: str) -> None:
    proto = messages.GraphDef.FromString(WHOLE)
    nodes = [*proto.node, *(n for f in proto.library.function for n in f.node_def)]
    attr = next(n for n in nodes if n.op == op).attr[key]
    if value is None:
        attr.s = b"yes"
    else:
        attr.type = value
    with tf.Graph().as_default(), pytest.raises(MalformedError, match=message):
        load.import_graph_def(proto, name="")


def test_control_inputs_are_kept_whatever_the_inputs_wait_for() -> None:
    graph = tf.Graph()
    with graph.as_default():
        first, second = tf.no_op(name="first"), tf.no_op(name="second")
        with tf.control_dependencies([first]):
            a = tf.constant(1.0, name="a")
        with tf.control_dependencies([second]):
            tf.identity(a, name="b")
    again = tf.Graph()
    with again.as_default():
        tf.graph_util.import_graph_def(graph.as_graph_def(), name="")
    assert [n.name for n in again.get_operation_by_name("a").control_inputs] == ["first"]
    assert [n.name for n in again.get_operation_by_name("b").control_inputs] == ["second"]


def chain_of_functions(n: int, calls: int) -> object:
    """A GraphDef whose functions each call the next, `calls` times."""
    proto = messages.GraphDef()
    for i in range(n):
        made = proto.library.function.add()
        made.signature.name = f"f{i}"
        made.signature.input_arg.add(name="x", type=1)
        made.signature.output_arg.add(name="y", type=1)
        value = "x"
        for k in range(calls if i + 1 < n else 0):
            value = call(made.node_def.add(), f"c{k}", value, f"f{i + 1}")
        made.ret["y"] = value
    proto.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    call(proto.node.add(), "call", "x", "f0")
    return proto


def call(node: object, name: str, value: str, function: str) -> str:
    node.name, node.op = name, "PartitionedCall"  # type: ignore[attr-defined]
    node.input.append(value)  # type: ignore[attr-defined]
    attr = node.attr  # type: ignore[attr-defined]
    attr["f"].func.name = function
    for key in ("Tin", "Tout"):
        attr[key].list.type.append(1)
    return f"{name}:output:0"


@pytest.mark.parametrize("size", [(3000, 1), (40, 3)])
def test_long_chains_of_functions_are_read_or_refused(size: tuple[int, int]) -> None:
    with tf.Graph().as_default():
        try:
            tf.graph_util.import_graph_def(chain_of_functions(*size), name="")
        except MalformedError as e:
            assert "deep" in str(e)
