"""What a dataset's function has read of Python's state: changes are noticed when an iterator begins."""

import logging

import pytest

import intaglio
from intaglio import tf


class Augmentation:
    factor = 2

    def __call__(self, x):
        return x * self.factor


@pytest.fixture
def warnings(caplog):
    caplog.set_level(logging.WARNING, "tensorflow")
    return lambda: [
        r.getMessage()
        for r in caplog.records
        if "has been" in r.getMessage() or "was traced with" in r.getMessage()
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda ds, f: ds.map(f),
        lambda ds, f: ds.map(f, num_parallel_calls=2),
        lambda ds, f: ds.filter(lambda x: f(x) >= 0),
        lambda ds, f: ds.flat_map(lambda x: tf.data.Dataset.from_tensors(f(x))),
        lambda ds, f: ds.scan(tf.constant(0, tf.int64), lambda s, x: (s, f(x))),
        lambda ds, f: ds.map(f).batch(2).prefetch(1),
    ],
)
def test_a_change_warns_once(make, warnings) -> None:
    f = Augmentation()
    dataset = make(tf.data.Dataset.range(3), f)
    before = [t.numpy().tolist() for t in dataset]
    assert not warnings()
    f.factor = 5
    for _ in range(2):
        assert [t.numpy().tolist() for t in dataset] == before  # as in TensorFlow
    (text,) = warnings()
    assert "self.factor: 2 -> 5 (read at test_changed_captures.py:" in text
    assert "Make the dataset again" in text


def test_error_and_freeze(warnings) -> None:
    f = Augmentation()
    dataset = tf.data.Dataset.range(3).map(f)
    f.factor = 5
    with intaglio.captures("error"), pytest.raises(intaglio.StaleCaptureError, match="factor"):
        list(dataset)
    with intaglio.captures("freeze"):
        assert [int(x) for x in dataset] == [0, 2, 4]
    assert not warnings()


def test_a_function_that_makes_the_dataset_has_read_it_too() -> None:
    f = Augmentation()

    @tf.function
    def total():
        return tf.data.Dataset.range(3).map(f).reduce(tf.constant(0, tf.int64), lambda s, x: s + x)

    with intaglio.captures("retrace"):
        assert int(total()) == 6
        f.factor = 10
        assert int(total()) == 30
