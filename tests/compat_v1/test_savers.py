"""Savers, their files and their graphs: those of TensorFlow 2.21 are read, and it reads ours."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from tests.compat_v1 import saver_model

v1: Any = tf.compat.v1


def test_the_newest_checkpoints_stay(tmp_path: pathlib.Path) -> None:
    saver_model.save(tf, tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(os.listdir(saver_model.FILES))
    state = (tmp_path / "checkpoint").read_text()
    assert state == (saver_model.FILES / "checkpoint").read_text()
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "m-3")
    assert tf.train.list_variables(str(tmp_path / "m-3")) == [
        ("b", [3]),
        ("w", [2, 3]),
        ("word", []),
    ]


@pytest.mark.parametrize("scope", [None, "inner"])
@pytest.mark.parametrize("ours", [True, False])
def test_a_graph_comes_back_from_a_file(
    ours: bool, scope: str | None, tmp_path: pathlib.Path
) -> None:
    folder = tmp_path if ours else saver_model.FILES
    if ours:
        saver_model.save(tf, folder)
    prefix = f"{scope}/" if scope else ""
    with tf.Graph().as_default() as graph:
        saver = v1.train.import_meta_graph(str(folder / "m-3.meta"), import_scope=scope)
        names = [v.name for v in v1.trainable_variables()]
        assert names == [f"{prefix}{n}:0" for n in ("w", "b", "word")]
        assert graph.get_collection("numbers") == [3]
        assert [t.name for t in graph.get_collection("results")] == [f"{prefix}y:0"]
        with v1.Session() as session:
            saver.restore(session, str(folder / "m-3"))
            result = session.run(f"{prefix}y:0", {f"{prefix}x:0": [[1.0, 1.0]]})
            assert result.tolist() == [[7.0, 7.0, 10.0]]
            assert session.run(v1.global_variables()[2]) == b"abc"
            saver.restore(session, str(folder / "m-2"))
            assert session.run(v1.global_variables()[1]).tolist() == [3.0, 2.0, 3.0]


def test_what_cannot_be_saved_or_restored(tmp_path: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match="`var_list` must specify"):
        v1.train.Saver()
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No variables to save"):
            v1.train.Saver()
        b = saver_model.build(tf)
        with pytest.raises(ValueError, match="At least two variables have the same name: b"):
            v1.train.Saver([b, b])
        saver = v1.train.Saver()
        path = str(saver_model.FILES / "m-3")
        with v1.Session() as session:
            with pytest.raises(ValueError, match="save_path when it is None"):
                saver.restore(session, None)
            with pytest.raises(ValueError, match="not a valid checkpoint"):
                saver.restore(session, str(tmp_path / "m"))
            with pytest.raises(ValueError, match="Parent directory of"):
                saver.save(session, str(tmp_path / "no" / "no" / "m"))
            with pytest.raises(tf.errors.NotFoundError, match="Key nope not found"):
                v1.train.Saver({"nope": b}).restore(session, path)
            with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors"):
                v1.train.Saver({"w": b}).restore(session, path)
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(b)  # nothing of it was assigned
    with tf.Graph().as_default(), pytest.raises(OSError, match="does not exist"):
        v1.train.import_meta_graph(str(tmp_path / "m.meta"))


def test_one_folder_is_made(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow's answer: the last folder of the path may be absent, absolute or relative."""
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=3.0)
        session.run(v.initializer)
        saver = v1.train.Saver()
        for path in (str(tmp_path / "a" / "m"), "b/m", "m"):
            assert tf.train.load_variable(saver.save(session, path), "v") == 3.0


def test_variables_of_other_modes(tmp_path: pathlib.Path) -> None:
    """Eager ones by their names, and those of tf.train.Checkpoint."""
    v = tf.Variable([1.0, 2.0], name="v")
    path = v1.train.Saver([v]).save(None, str(tmp_path / "eager"))
    v.assign([0.0, 0.0])
    v1.train.Saver([v]).restore(None, path)
    assert v.numpy().tolist() == [1.0, 2.0]
    path = tf.train.Checkpoint(other=v).save(str(tmp_path / "objects"))
    with tf.Graph().as_default():
        again = v1.get_variable("v", [2])
        with v1.Session() as session:
            v1.train.Saver().restore(session, path)
            assert session.run(again).tolist() == [1.0, 2.0]


# At the steps 0, 5, 13, 31 and 70, with the options and without.
RATES = {
    "exponential_decay": ((10, 0.5), {"staircase": True}),
    "natural_exp_decay": ((10, 0.5), {"staircase": True}),
    "inverse_time_decay": ((10, 0.5), {"staircase": True}),
    "polynomial_decay": ((10,), {"cycle": True}),
    "cosine_decay": ((10,), {"alpha": 0.1}),
    "cosine_decay_restarts": ((10,), {"alpha": 0.1}),
    "linear_cosine_decay": ((10,), {"alpha": 0.1}),
}
ANSWERS: dict[str, tuple[list[float], list[float]]] = {
    "exponential_decay": (
        [0.1, 0.07071, 0.04061, 0.01166, 0.00078],
        [0.1, 0.1, 0.05, 0.0125, 0.00078],
    ),
    "natural_exp_decay": (
        [0.1, 0.07788, 0.0522, 0.02122, 0.00302],
        [0.1, 0.1, 0.06065, 0.02231, 0.00302],
    ),
    "inverse_time_decay": (
        [0.1, 0.08, 0.06061, 0.03922, 0.02222],
        [0.1, 0.1, 0.06667, 0.04, 0.02222],
    ),
    "polynomial_decay": (
        [0.1, 0.05005, 0.0001, 0.0001, 0.0001],
        [0.1, 0.05005, 0.03507, 0.02258, 0.0001],
    ),
    "cosine_decay": ([0.1, 0.05, 0.0, 0.0, 0.0], [0.1, 0.055, 0.01, 0.01, 0.01]),
    "cosine_decay_restarts": (
        [0.1, 0.05, 0.09455, 0.09985, 0.1],
        [0.1, 0.055, 0.0951, 0.09986, 0.1],
    ),
    "linear_cosine_decay": (
        [0.1001, 0.0251, 0.0001, 0.0001, 0.0001],
        [0.1101, 0.0301, 0.0001, 0.0001, 0.0001],
    ),
}


@pytest.mark.parametrize("name", RATES)
def test_learning_rates(name: str) -> None:
    """Recorded from TensorFlow 2.21, to five digits."""
    decay, (args, options) = getattr(v1.train, name), RATES[name]
    for wanted, more in zip(ANSWERS[name], ({}, options), strict=True):
        found = [float(decay(0.1, tf.constant(k), *args, **more)()) for k in (0, 5, 13, 31, 70)]
        np.testing.assert_allclose(found, wanted, atol=6e-6)
    with tf.Graph().as_default(), v1.Session() as session:
        rate = session.run(decay(0.1, tf.constant(13), *args))
        np.testing.assert_allclose(rate, ANSWERS[name][0][2], atol=6e-6)


def test_a_piecewise_constant_rate() -> None:
    decay = v1.train.piecewise_constant
    found = [float(decay(tf.constant(k), [5, 10], [1.0, 0.5, 0.1])()) for k in (0, 5, 6, 10, 11)]
    np.testing.assert_allclose(found, [1.0, 1.0, 0.5, 0.5, 0.1])
    with pytest.raises(ValueError, match="1 less than"):
        decay(tf.constant(1), [5, 10], [1.0, 0.5])


def test_a_name_based_checkpoint_satisfies_a_checkpoint_with_fewer_variables(tmp_path: Any):
    """TensorFlow 2.21 was asked: what else is in the file does not count, what is missing counts always."""
    tf1 = tf.compat.v1
    with tf1.Graph().as_default(), tf1.Session() as session:
        for name in "ab":
            tf1.get_variable(name, initializer=[3.0])
        session.run(tf1.global_variables_initializer())
        path = tf1.train.Saver().save(session, str(tmp_path / "m"))
    known, unknown = tf.Variable([0.0], name="a"), tf.Variable([0.0], name="c")
    for status in (
        tf.train.Checkpoint(x=known).restore(path),
        tf.train.Checkpoint(x=known).read(path),
    ):
        assert type(status).__name__ == "NameBasedSaverStatus"
        assert status.assert_consumed() is status.assert_existing_objects_matched() is status
    np.testing.assert_array_equal(known, [3.0])
    status = tf.train.Checkpoint(x=known, y=unknown).restore(path)
    for check in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"):
        with pytest.raises(
            AssertionError, match=r"not restored: \n    <tf.Variable 'c:0'.*: \['c'\]"
        ):
            getattr(status, check)()
    status.expect_partial()


def test_a_reader_describes_the_values(tmp_path: pathlib.Path) -> None:
    """TensorFlow's text of ten dtypes and shapes."""
    values = {
        "b": [1.0, 2.0],
        "a": 3,
        "c": True,
        "d/e": [[1, 2]],
        "f": tf.constant([1.0], tf.bfloat16),
        "h": ["s"],
        "i": tf.constant(2, tf.int64),
        "j": 1 + 2j,
        "k": tf.constant(1.0, tf.float64),
        "u": tf.constant(1, tf.uint8),
    }
    initial = {n: v.numpy() if tf.is_tensor(v) else v for n, v in values.items()}
    with tf.Graph().as_default(), v1.Session() as session:
        for name, value in initial.items():
            v1.get_variable(name, initializer=value)
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "m"))
    with pytest.raises(tf.errors.DataLossError):  # a folder is no prefix, also of what is in it
        v1.train.NewCheckpointReader(str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError):
        v1.train.NewCheckpointReader(str(tmp_path / "none"))
    assert v1.train.NewCheckpointReader(path).debug_string() == (
        b"a (DT_INT32) []\nb (DT_FLOAT) [2]\nc (DT_BOOL) []\nd/e (DT_INT32) [1,2]\nf (DT_BFLOAT16) [1]\n"
        b"h (DT_STRING) [1]\ni (DT_INT64) []\nj (DT_COMPLEX128) []\nk (DT_DOUBLE) []\nu (DT_UINT8) []\n"
    )
