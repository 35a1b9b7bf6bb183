"""The names of `tf.compat.v1`, and what those that few programs use answer. TensorFlow 2.21 recorded it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from absl import flags

from intaglio import tf
from intaglio.compat_v1.absent import ABSENT
from tests.compat_v1.answers_of_names import CALLS, FILE, TABLES, answer, sparse

v1: Any = tf.compat.v1
RECORDED = json.loads(FILE.read_text())
# What TensorFlow 2 has under the same name and is not here either: docs/coverage.md.
LEFT_OUT = (
    "config.",
    "data.experimental.service.",
    "distribute.Server",
    "experimental.",
    "lite.",
    "tpu.",
    "train.Server",
)


def _found(path: str) -> Any:
    value: Any = v1
    for part in path.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_tensorflows(name: str) -> None:
    def compare(ours: Any, theirs: Any) -> None:
        if isinstance(theirs, list) and not all(isinstance(t, (int, float)) for t in theirs):
            assert len(ours) == len(theirs)
            for pair in zip(ours, theirs, strict=True):
                compare(*pair)
        elif isinstance(theirs, (str, type(None))):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)

    compare(answer(tf, name), RECORDED["answers"][name])


def test_all_names_are_there() -> None:
    missing: list[str] = []
    for path in RECORDED["names"]:
        try:
            _found(path)
        except AttributeError:
            missing.append(path)
    assert [path for path in missing if not path.startswith(LEFT_OUT)] == []


@pytest.mark.parametrize("name", ABSENT)
def test_what_is_not_implemented_says_so(name: str) -> None:
    with pytest.raises(NotImplementedError, match=name.rpartition(".")[2]):
        _found(name)()


def test_strategies_of_divided_tables() -> None:
    with pytest.raises(ValueError, match="Unrecognized partition strategy: other"):
        v1.nn.embedding_lookup_sparse(TABLES, sparse(tf), None, "other")


def test_partitioners_that_do_not_fit() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="must return a sequence"):
            v1.get_variable("a", [3], partitioner=lambda shape, dtype: 3)
        with pytest.raises(ValueError, match="match the Variable's rank"):
            v1.get_variable("b", [3], partitioner=lambda shape, dtype: [1, 1])
        with pytest.raises(ValueError, match="more than one dimension"):
            v1.get_variable("c", [4, 4], partitioner=lambda shape, dtype: [2, 2])


def test_parts_of_variables_eagerly() -> None:
    found = v1.get_variable(
        "eager", [5, 2], initializer=v1.ones_initializer(), partitioner=v1.fixed_size_partitioner(2)
    )
    assert [part.shape.as_list() for part in found] == [[3, 2], [2, 2]]
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(found.as_tensor() * tf.reshape(tf.range(10.0), [5, 2]))
    assert float(total) == 45
    assert tape.gradient(total, list(found))[1].numpy().tolist() == [[6, 7], [8, 9]]


def test_flags_are_those_of_absl() -> None:

    assert v1.flags.DEFINE_string is flags.DEFINE_string
    assert v1.app.flags.FLAGS is v1.flags.FLAGS


def test_a_supervised_loop_goes_on_from_its_checkpoint(tmp_path: Any) -> None:
    steps: list[int] = []

    def step(session: Any, supervisor: Any, count: Any, limit: int) -> None:
        steps.append(int(session.run(count)))
        if len(steps) >= limit:
            supervisor.request_stop()

    for limit in (3, 5):
        with tf.Graph().as_default():
            global_step = v1.train.get_or_create_global_step()
            count = v1.assign_add(global_step, 1)
            supervisor = v1.train.Supervisor(logdir=str(tmp_path), save_model_secs=0)
            v1.train.basic_train_loop(supervisor, step, (supervisor, count, limit))
            with supervisor.managed_session(start_standard_services=False) as session:
                session.run(global_step.assign(steps[-1]))
                supervisor.saver.save(session, supervisor.save_path, global_step=global_step)
    assert steps == [1, 2, 3, 4, 5]


def test_sessions_without_initializers() -> None:
    with tf.Graph().as_default():
        v1.get_variable("v", [2])
        manager = v1.train.SessionManager(ready_op=v1.report_uninitialized_variables())
        with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
            manager.prepare_session("")
        with pytest.raises(RuntimeError, match="Variables not initialized: v"):
            manager.prepare_session("", init_fn=lambda session: None)


def test_graphs_that_differ() -> None:
    def graph(value: float) -> Any:
        with tf.Graph().as_default() as made:
            tf.constant(value, name="c")
        return made.as_graph_def()

    v1.test.assert_equal_graph_def(graph(1.0), graph(1.0))
    with pytest.raises(AssertionError, match="Nodes differ"):
        v1.test.assert_equal_graph_def(graph(1.0), graph(2.0))


def test_attributes_come_back() -> None:
    class Home:
        number = 1

    with v1.test.StubOutForTesting() as stubs:
        stubs.Set(Home, "number", 2)
        stubs.SmartSet(Home, "number", 3)
        assert Home.number == 3
    assert Home.number == 1


def test_programs_that_look_for_a_tpu_go_on_without() -> None:
    with pytest.raises(ValueError, match="Please provide a TPU Name to connect to"):
        tf.distribute.cluster_resolver.TPUClusterResolver()
    with pytest.raises(ValueError, match="Please provide a TPU Name"):
        tf.tpu.experimental.initialize_tpu_system()
    with pytest.raises(NotImplementedError, match="TPUClusterResolver"):
        tf.distribute.cluster_resolver.TPUClusterResolver(tpu="worker")


def test_variables_begin_with_a_checkpoint(tmp_path: Any) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        for name in ("a", "b"):
            v1.get_variable(name, initializer=5.0)
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), v1.Session() as session:
        found = [v1.get_variable(name, initializer=1.0) for name in ("a", "c")]
        v1.train.warm_start(path, vars_to_warm_start="c", var_name_to_prev_var_name={"c": "b"})
        session.run(v1.global_variables_initializer())
        assert session.run(found) == [1.0, 5.0]


def test_sizes_of_tensorflow_1_are_numbers_in_lists() -> None:
    size = v1.Dimension
    assert tf.reshape(tf.ones([10]), [size(5), 2]).shape == [5, 2]
    assert tf.convert_to_tensor([size(3)], tf.int64).dtype is tf.int64
    with pytest.raises(ValueError, match="Cannot convert unknown Dimension"):
        tf.convert_to_tensor(size(None))
    with pytest.raises(TypeError, match="Cannot convert Dimension 3 to dtype"):
        tf.convert_to_tensor(size(3), tf.float32)
