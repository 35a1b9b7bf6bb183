"""`tf.compat.v1.profiler`; the counts were asked of TensorFlow 2.21."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from intaglio import tf
from intaglio.insight.float_operations import OpStats, RegisterStatistics, get_stats_for_node_def

raw: Any = tf.raw_ops
v1: Any = tf.compat.v1
PROFILER = v1.profiler
BUILDER = PROFILER.ProfileOptionBuilder
FLOPS = BUILDER(BUILDER.float_operation()).with_empty_output().build()


def _input(*shape: int | None, dtype: Any = tf.float32) -> Any:
    return v1.placeholder(dtype, shape)


def _images(**options: Any) -> dict[str, Any]:
    return {"strides": [1, 1, 1, 1], "padding": "SAME", **options}


POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
COUNTS: list[tuple[str, Any, int]] = [
    ("sum", lambda: _input(3, 5) + _input(5), 15),
    ("integers", lambda: _input(3, 5, dtype=tf.int32) + _input(5, dtype=tf.int32), 15),
    ("three", lambda: raw.AddN(inputs=[_input(3, 5)] * 3), 30),
    ("quotient", lambda: _input(3, 5) / _input(5), 15),
    ("less", lambda: _input(3, 5) < _input(5), 15),
    ("logarithm", lambda: tf.math.log(_input(3, 5)), 15),
    ("exponential", lambda: tf.exp(_input(3, 5)), 0),
    ("relu", lambda: tf.nn.relu(_input(3, 5)), 0),
    ("rsqrt", lambda: tf.math.rsqrt(_input(3, 5)), 30),
    ("softmax", lambda: raw.Softmax(logits=_input(3, 5)), 75),
    ("difference", lambda: tf.math.squared_difference(_input(3, 5), _input(5)), 30),
    ("reduce_sum", lambda: tf.reduce_sum(_input(3, 5, 7), 1), 84),
    ("reduce_mean", lambda: tf.reduce_mean(_input(3, 5, 7), 1), 105),
    ("argmax", lambda: tf.argmax(_input(3, 5, 7), 1), 84),
    ("norm", lambda: tf.nn.l2_loss(_input(3, 5)), 44),
    ("product", lambda: _input(3, 5) @ _input(5, 7), 210),
    ("transposed", lambda: tf.matmul(_input(5, 3), _input(5, 7), transpose_a=True), 210),
    ("batched", lambda: raw.BatchMatMulV2(x=_input(4, 2, 3, 5), y=_input(5, 7)), 1680),
    (
        "convolution",
        lambda: raw.Conv2D(input=_input(2, 9, 9, 3), filter=_input(3, 3, 3, 4), **_images()),
        34992,
    ),
    (
        "groups",
        lambda: raw.Conv2D(input=_input(2, 9, 9, 4), filter=_input(3, 3, 2, 4), **_images()),
        23328,
    ),
    (
        "depthwise",
        lambda: raw.DepthwiseConv2dNative(
            input=_input(2, 9, 9, 3), filter=_input(3, 3, 3, 2), **_images()
        ),
        17496,
    ),
    (
        "input gradient",
        lambda: raw.Conv2DBackpropInput(
            input_sizes=[2, 9, 9, 3],
            filter=_input(3, 3, 3, 4),
            out_backprop=_input(2, 5, 5, 4),
            **_images(strides=[1, 2, 2, 1]),
        ),
        8748,
    ),
    ("maxima", lambda: raw.MaxPool(input=_input(2, 9, 9, 3), **POOL), 384),
    ("bias", lambda: tf.nn.bias_add(_input(2, 9, 9, 3), _input(3)), 486),
    ("open", lambda: _input(None, 5) + _input(5), 0),
]


@pytest.mark.parametrize(("build", "count"), [c[1:] for c in COUNTS], ids=[c[0] for c in COUNTS])
def test_counts_of_ops(build: Any, count: int) -> None:
    with tf.Graph().as_default() as graph:
        build()
    for cmd in ("scope", "graph", "op", "code"):
        assert PROFILER.profile(graph, cmd=cmd, options=FLOPS).total_float_ops == count


def _model() -> Any:
    with tf.Graph().as_default() as graph:
        x = _input(2, 9, 9, 3)
        zeros = v1.zeros_initializer()
        with tf.name_scope("net"):
            w = v1.get_variable("w", [3, 3, 3, 4], initializer=zeros)
            y = tf.nn.conv2d(x, w, 1, "SAME", name="conv")
            u = v1.get_variable("u", [4, 5], initializer=zeros)
            v1.get_variable("n", [7], initializer=zeros, trainable=False)
            tf.reduce_sum(tf.reshape(y, [-1, 4]) @ u)
    return graph


def test_counts_by_name_and_by_op() -> None:
    graph = _model()
    found = PROFILER.profile(graph, options=FLOPS)
    children = [(c.name, c.float_ops, c.total_float_ops) for c in found.children]
    assert children == [
        ("net/conv", 34992, 34992),
        ("net/matmul", 6480, 6480),
        ("net/Sum", 809, 809),
    ]
    assert [d.size for d in found.children[0].input_shapes[1].dim] == [3, 3, 3, 4]
    by_op = PROFILER.Profiler(graph).profile_operations(FLOPS)
    assert (by_op.children[0].name, by_op.children[0].total_float_ops) == ("Conv2D", 42281)
    assert by_op.children[0].children[0].name == "MatMul"


def test_parameters_and_reports(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    options = BUILDER.trainable_variables_parameter()
    found = PROFILER.profile(_model(), options=options)
    assert found.total_parameters == 128
    assert [(c.name, c.total_parameters) for c in found.children] == [("u", 20), ("w", 108)]
    assert "_TFProfRoot (--/128 params)" in capsys.readouterr().out
    path = tmp_path / "report"
    PROFILER.profile(_model(), options=BUILDER(FLOPS).with_file_output(str(path)).build())
    assert "net/conv (34.99k/34.99k flops)" in path.read_text()
    assert capsys.readouterr().out == ""


def test_options() -> None:
    built = BUILDER({}).with_max_depth(3).order_by("name").select(["params"]).build()
    assert built == {"max_depth": 3, "order_by": "name", "select": ["params"]}
    assert BUILDER().build()["output"] == "stdout"
    assert BUILDER.time_and_memory(min_bytes=7)["min_bytes"] == 7
    hidden = BUILDER(FLOPS).with_node_names(hide_name_regexes=["net/conv"]).build()
    found = PROFILER.profile(_model(), options=hidden)
    assert [c.name for c in found.children] == ["net/matmul", "net/Sum"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown cmd: nope"):
        PROFILER.profile(tf.Graph(), cmd="nope")


def test_statistics_of_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intaglio.insight.float_operations._OF_PROGRAMS", {})

    @RegisterStatistics("Tanh", "flops")
    def tanh(graph: Any, node: Any) -> OpStats:
        size = graph.get_tensor_by_name(f"{node.name}:0").shape.num_elements()
        return OpStats("flops", 10 * size)

    with tf.Graph().as_default() as graph:
        node = tf.tanh(_input(3, 5)).op.node_def
    assert PROFILER.profile(graph, options=FLOPS).total_float_ops == 150
    total = OpStats("flops")
    total += get_stats_for_node_def(graph, node, "flops")
    assert total.value == 150
    with pytest.raises(ValueError, match="Can't add an OpStat"):
        total += OpStats("weights", 3)
    with pytest.raises(TypeError, match="must not contain a comma"):
        RegisterStatistics("A,B", "flops")
