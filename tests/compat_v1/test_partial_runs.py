"""Runs in several steps and runs that are measured; TensorFlow 2.21 was asked for all answers."""

import random

import numpy as np
import pytest

import intaglio.tf as tf2

tf = tf2.compat.v1


@pytest.fixture
def graph():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.placeholder(tf.float32, [], "a")
        b = tf.placeholder(tf.float32, [], "b")
        c = tf.multiply(a, 2, "c")
        tf.add(c, b, "d")
        tf.add(a, 7.0, "e")
    return graph


def _tensors(graph, names):
    return [graph.get_tensor_by_name(f"{name}:0") for name in names]


def test_a_run_is_fed_and_fetched_in_steps(graph):
    session = tf.Session(graph=graph)
    a, b, c, d, e = _tensors(graph, "abcde")
    handle = session.partial_run_setup([c, d, e], [a, b])
    assert isinstance(handle, str)
    assert session.partial_run(handle, {"x": c}, {a: 1}) == {"x": 2.0}
    assert session.partial_run(handle, "e:0") == 8.0
    assert session.partial_run(handle, [d], {b: 1}) == [3.0]
    with pytest.raises(tf2.errors.InvalidArgumentError, match="Must run 'setup'"):
        session.partial_run(handle, d)


def test_runs_are_apart(graph):
    session = tf.Session(graph=graph)
    a, b, c, d = _tensors(graph, "abcd")
    handles = [session.partial_run_setup([c, d], [a, b]) for _ in range(2)]
    assert [session.partial_run(h, c, {a: n}) for h, n in zip(handles, (1, 5), strict=True)] == [
        2.0,
        10.0,
    ]
    assert [session.partial_run(h, d, {b: 1}) for h in handles] == [3.0, 11.0]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([("e", "a")], "The fetch e:0 was not specified in partial_run_setup."),
        ([("c", "ae")], "The feed e:0 was not specified in partial_run_setup."),
        ([("d", "a")], "Fetch b:0 can't be computed from the feeds that have been fed so far."),
        ([("c", "a"), ("c", "")], "The fetch c:0 has already been fetched."),
        ([("c", "a"), ("d", "a")], "The feed a:0 has already been fed."),
    ],
)
def test_what_cannot_be_run_is_refused(graph, steps, message):
    session = tf.Session(graph=graph)
    handle = session.partial_run_setup(_tensors(graph, "cd"), _tensors(graph, "ab"))
    for fetch, _ in steps[:-1]:
        session.partial_run(handle, f"{fetch}:0", {"a:0": 1})
    fetch, feeds = steps[-1]
    with pytest.raises(tf2.errors.InvalidArgumentError, match=message.replace(".", r"\.")):
        session.partial_run(handle, f"{fetch}:0", {f"{name}:0": 1 for name in feeds})


def test_setups_that_fail(graph):
    session = tf.Session(graph=graph)
    a, c = _tensors(graph, "ac")
    with pytest.raises(tf2.errors.InvalidArgumentError, match="at least one target"):
        session.partial_run_setup([], [])
    with pytest.raises(tf2.errors.InvalidArgumentError, match="c:0 is both fed and fetched"):
        session.partial_run_setup([c], [c])
    handle = session.partial_run_setup([c, c.op], [a])
    with pytest.raises(RuntimeError, match="requires empty `target_list`"):
        session.partial_run(handle, c.op, {a: 1})
    session.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        session.partial_run_setup([c], [a])


def test_no_node_runs_twice():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        counter = tf.Variable(0.0, use_resource=True)
        session.run(counter.initializer)
        counted = counter.assign_add(a, read_value=False)
        drawn = tf.random_uniform([]) + a
        later = drawn + b
        handle = session.partial_run_setup([drawn, later, counted], [a, b])
        first = session.partial_run(handle, drawn, {a: 3})
        assert session.run(counter) == 3.0  # an operation runs as soon as it can
        assert session.partial_run(handle, later, {b: 1}) - first == pytest.approx(1.0)
        assert session.run(counter) == 3.0


def test_steps_are_one_run():
    """Random graphs, fetched in random order: what `run` returns."""
    rng = random.Random(0)
    for _ in range(20):
        with tf.Graph().as_default(), tf.Session() as session:
            feeds = [tf.placeholder(tf.float32, [2]) for _ in range(3)]
            values = list(feeds)
            for _ in range(8):
                one, other = rng.choices(values, k=2)
                values.append(rng.choice((tf.add, tf.multiply, tf.maximum))(one, other))
            numbers = {t: np.float32([i - 1, i + 0.5]) for i, t in enumerate(feeds)}
            fetched = values[3:]
            whole = session.run(fetched, numbers)
            handle = session.partial_run_setup(fetched, feeds)
            session.partial_run(handle, [], numbers)
            order = list(range(len(fetched)))
            rng.shuffle(order)
            for number in order:
                got = session.partial_run(handle, fetched[number])
                np.testing.assert_array_equal(got, whole[number])


def test_a_measured_run_names_its_nodes(graph):
    session = tf.Session(graph=graph)
    d = graph.get_tensor_by_name("d:0")
    feeds = {"a:0": 1, "b:0": 2}
    found = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    assert session.run([d, d.op], feeds, options, found) == [4.0, None]
    (device,) = found.step_stats.dev_stats
    assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    nodes = {n.node_name: n for n in device.node_stats}
    assert nodes.keys() == {"c/y", "c", "d"}
    assert nodes["d"].timeline_label == "d = AddV2(c, b)"
    assert nodes["d"].output[0].tensor_description.dtype == tf.float32.as_datatype_enum
    assert nodes["d"].all_start_micros >= nodes["c"].all_start_micros > 0
    assert not found.partition_graphs
    session.run(d, feeds, run_metadata=found)
    assert not found.step_stats.dev_stats  # each run writes the message again
    session.run(d, feeds, tf.RunOptions(output_partition_graphs=True), found)
    assert {n.name for n in found.partition_graphs[0].node} == {"c/y", "c", "d"}


def test_a_session_has_the_device_of_the_host(graph):
    (device,) = tf.Session(graph=graph).list_devices()
    assert device.name == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert device.device_type == "CPU"
    assert str(device).startswith(f"_DeviceAttributes({device.name}, CPU, ")
