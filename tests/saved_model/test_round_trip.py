"""What saving keeps and loading brings back; messages are TensorFlow's own."""

from __future__ import annotations

import collections
import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.saved_model import bundle

Pair = collections.namedtuple("Pair", "a b")


def again(model: Any, path: pathlib.Path, **options: Any) -> Any:
    """The model, saved and loaded."""
    tf.saved_model.save(model, str(path / "model"), **options)
    return tf.saved_model.load(str(path / "model"))


def test_variables_keep_what_they_are(tmp_path: pathlib.Path) -> None:
    m = tf.Module()
    m.v = tf.Variable(
        [1.0],
        name="weights",
        trainable=False,
        shape=tf.TensorShape(None),
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
    m.open = tf.Variable([[1, 2]], shape=[None, 2])
    found = again(m, tmp_path)
    assert found.v.name == "weights:0" and not found.v.trainable
    assert found.v.shape == tf.TensorShape(None) and found.v.numpy().tolist() == [1.0]
    assert found.v.synchronization is tf.VariableSynchronization.ON_READ
    assert found.v.aggregation is tf.VariableAggregation.SUM
    assert found.open.shape.as_list() == [None, 2]
    found.open.assign([[1, 2], [3, 4]])


DTYPES = "float16 bfloat16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool complex64 complex128"


@pytest.mark.parametrize("name", DTYPES.split())
def test_every_dtype_of_variables(name: str, tmp_path: pathlib.Path) -> None:
    m = tf.Module()
    m.v = tf.Variable(tf.cast(tf.constant([0, 1, 3]), getattr(tf, name)))
    m.empty = tf.Variable(tf.cast(tf.zeros([0, 2]), getattr(tf, name)))
    found = again(m, tmp_path)
    assert found.v.dtype is m.v.dtype and found.empty.shape.as_list() == [0, 2]
    assert found.v.numpy().tobytes() == m.v.numpy().tobytes()


def test_structures_are_found_and_shared(tmp_path: pathlib.Path) -> None:
    m = tf.Module()
    v = tf.Variable(1.0)
    m.list = [v, {"a.b/c": (v, tf.Variable(2.0))}, 3]
    m.empty, m.pair, m.plain = [], Pair(tf.Variable(4.0), 5), (1, 2)
    m.sub = tf.Module()
    m.sub.parent = m
    found = again(m, tmp_path)
    assert found.list[0] is found.list[1]["a.b/c"][0]
    assert float(found.list[1]["a.b/c"][1]) == 2.0 and len(found.list) == 2
    assert found.empty == [] and float(found.pair[0]) == 4.0
    assert found.sub.parent is found and not hasattr(found, "plain")


def test_keys_of_trackable_things_are_strings(tmp_path: pathlib.Path) -> None:
    m = tf.Module()
    m.d = {1: tf.Variable(1.0)}
    with pytest.raises(ValueError, match="contains a non-string key which maps to"):
        again(m, tmp_path)


class Model(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.v = tf.Variable(2.0)
        self.big = tf.constant(np.arange(200.0, dtype=np.float32))

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.float32, name="inp"),
            {"a": tf.TensorSpec([], tf.int32), "b": (tf.TensorSpec(None, tf.string),)},
        ]
    )
    def nested(self, x: Any, parts: Any) -> Any:
        return [x * self.v, parts["a"]], Pair(parts["b"][0], x)

    @tf.function(input_signature=[tf.TensorSpec([2])] * 3)
    def several(self, *args: Any) -> Any:
        return tf.add_n(args) + self.big[:2]

    @tf.function
    def rows(self, x: Any) -> Any:
        return tf.IndexedSlices(x, tf.constant([0, 1]))

    @tf.function
    def assign(self, x: Any) -> None:
        self.v.assign(x)

    @tf.function
    def never_called(self, x: Any) -> Any:
        return x


def test_arguments_and_results_keep_their_structure(tmp_path: pathlib.Path) -> None:
    m = Model()
    m.rows(tf.constant([1.0, 2.0]))
    m.assign(2.0)
    m.assign(tf.constant(2.0))
    found = again(m, tmp_path)
    (first, second), pair = found.nested([1.0, 3.0], {"a": 7, "b": ("s",)})
    assert first.numpy().tolist() == [2.0, 6.0] and int(second) == 7
    assert pair.a.numpy() == b"s" and pair.b.numpy().tolist() == [1.0, 3.0]
    assert found.several(*[tf.constant([1.0, 2.0])] * 3).numpy().tolist() == [3.0, 7.0]
    rows = found.rows(tf.constant([1.0, 2.0]))
    assert isinstance(rows, tf.IndexedSlices) and rows.indices.numpy().tolist() == [0, 1]
    found.assign(tf.constant(9.0))
    assert float(found.v) == 9.0 and float(m.v) == 2.0
    assert found.nested([1.0], {"a": 7, "b": ("s",)})[0][0].numpy().tolist() == [9.0]
    with pytest.raises(ValueError, match="Found zero restored functions"):
        found.never_called(1)
    with pytest.raises(TypeError, match=r"Binding inputs to tf\.function failed"):
        found.several(tf.constant([1.0, 2.0]))
    assert len(found.assign.concrete_functions) == 2


def test_loaded_functions_are_traced_through(tmp_path: pathlib.Path) -> None:
    found = again(Model(), tmp_path)

    @tf.function
    def outer(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(found.nested(x, {"a": 1, "b": ("s",)})[0][0] ** 2)
        return tape.gradient(y, found.v)

    assert float(outer(tf.constant([1.0, 2.0]))) == 20.0
    kept = tf.saved_model.load(str(tmp_path / "model")).several  # the root goes away
    assert kept(*[tf.constant([1.0, 2.0])] * 3).numpy().tolist() == [3.0, 7.0]


# -- signatures ------------------------------------------------------------------------


def scalar(function: Any) -> Any:
    """A traced function of one number."""
    return tf.function(function, input_signature=[tf.TensorSpec([], name="x")])


def test_the_only_function_is_the_default_signature(tmp_path: pathlib.Path) -> None:
    m = tf.Module()
    m.f = scalar(lambda x: (x, x + 1))
    m.unusable = scalar(lambda x: (x, [x]))
    serving = again(m, tmp_path).signatures["serving_default"]
    result = serving(x=tf.constant(1.0))
    assert {k: float(v) for k, v in result.items()} == {"output_0": 1.0, "output_1": 2.0}
    with pytest.raises(TypeError, match=r"Binding inputs to tf\.function failed"):
        serving(y=tf.constant(1.0))
    m.g = scalar(lambda x: x)
    assert dict(again(m, tmp_path).signatures) == {}


def test_signatures_are_passed_by_name(tmp_path: pathlib.Path) -> None:
    m = tf.Module()
    concrete = scalar(lambda x: {"z": -x, "a": x}).get_concrete_function()
    found = again(m, tmp_path, signatures={"neg": concrete, "same": scalar(lambda x: x)})
    assert sorted(found.signatures) == ["neg", "same"]
    result = found.signatures["neg"](x=tf.constant(2.0))
    assert {k: float(v) for k, v in result.items()} == {"a": 2.0, "z": -2.0}
    described = found.signatures["same"].structured_outputs
    assert described == {"output_0": tf.TensorSpec([], tf.float32, name="output_0")}


@pytest.mark.parametrize(
    ("signatures", "message"),
    [
        (3, "Expected a TensorFlow function for which to generate a signature"),
        ({"a": lambda x: x}, r"Only `tf\.functions` with an input signature or concrete"),
        (scalar(lambda x: None), "Got a non-Tensor value None for key 'output_0'"),
        (scalar(lambda x: {1: x}), "Got a dictionary with a non-string key 1"),
    ],
)
def test_what_is_no_signature(signatures: Any, message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=message):
        again(tf.Module(), tmp_path, signatures=signatures)
    assert not (tmp_path / "model").exists()


# -- what cannot be saved ------------------------------------------------------------------


def test_only_trackable_objects(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save([1], str(tmp_path / "x"))


def test_untracked_variables(tmp_path: pathlib.Path) -> None:
    v = tf.Variable(1.0)
    m = tf.Module()
    m.f = scalar(lambda x: x + v)
    with pytest.raises(AssertionError, match="references an 'untracked' resource"):
        again(m, tmp_path)
    m.g = scalar(lambda x: x - v)
    with pytest.raises(KeyError, match="unsupported or not reachable from root"):
        again(m, tmp_path)


def test_saving_inside_a_function(tmp_path: pathlib.Path) -> None:
    @tf.function
    def f() -> None:
        tf.saved_model.save(tf.Module(), str(tmp_path / "x"))

    with pytest.raises(AssertionError, match="not supported inside a traced"):
        f()


# -- folders --------------------------------------------------------------------------------


def test_an_interrupted_save_leaves_the_old_model(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = tf.Module()
    m.v = tf.Variable(1.0)
    again(m, tmp_path)
    m.v.assign(2.0)

    def fails(*_: Any) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(bundle, "write", fails)
        with pytest.raises(tf.errors.OpError, match="full"):
            again(m, tmp_path)
    assert float(tf.saved_model.load(str(tmp_path / "model")).v) == 1.0
    assert float(again(m, tmp_path).v) == 2.0
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_other_files_of_the_folder_stay(tmp_path: pathlib.Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "notes.txt").write_text("mine")
    m = tf.Module()
    m.v = tf.Variable(1.0)
    again(m, tmp_path)
    m.v.assign(3.0)
    assert float(again(m, tmp_path).v) == 3.0
    assert (tmp_path / "model" / "notes.txt").read_text() == "mine"


def test_tags_and_options(tmp_path: pathlib.Path) -> None:
    m = tf.Module()
    m.v = tf.Variable([1.0])
    path = str(tmp_path / "model")
    tf.saved_model.save(m, path, options=tf.saved_model.SaveOptions(extra_tags=["big"]))
    assert tf.saved_model.contains_saved_model(path)
    assert not tf.saved_model.contains_saved_model(str(tmp_path))
    assert tf.saved_model.load(path, tags=["big", "serve"]).v.numpy() == [1.0]
    with pytest.raises(ValueError, match="Got an incompatible argument to `tags`"):
        tf.saved_model.load(path, tags="train")
    with pytest.raises(OSError, match="SavedModel file does not exist at: "):
        tf.saved_model.load(str(tmp_path / "nothing"))
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    empty = tf.saved_model.load(path, options=options)
    with pytest.raises(tf.errors.FailedPreconditionError):
        empty.v.read_value()


def test_a_gradient_of_its_own_is_never_replaced_by_another(tmp_path: pathlib.Path) -> None:
    @tf.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda dy: dy * 100.0

    m = tf.Module()
    m.f = scalar(square)
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(m, str(tmp_path / "model"), options=options)
    found = tf.saved_model.load(str(tmp_path / "model"))
    x = tf.constant(3.0)
    assert float(found.f(x)) == 9.0
    with (
        pytest.raises(LookupError, match="gradient registry has no entry for"),
        tf.GradientTape() as tape,
    ):
        tape.watch(x)
        tape.gradient(found.f(x), x)


class Scaled(tf.experimental.ExtensionType):
    __name__ = "tests.saved_model.Scaled"
    values: tf.Tensor
    factor: int


def test_an_extension_type_is_an_argument(tmp_path: pathlib.Path) -> None:
    """TensorFlow 2.21 reads what is saved here, and the other way round."""

    class Model(tf.Module):
        @tf.function
        def f(self, x: Any) -> Any:
            return Scaled(x.values * x.factor, x.factor)

    model = Model()
    for factor in (2, 3):
        model.f(Scaled(tf.constant([1.0, 2.0]), factor))
    found = again(model, tmp_path)
    for factor in (2, 3):
        result = found.f(Scaled(tf.constant([4.0, 5.0]), factor))
        assert (result.values.numpy().tolist(), result.factor) == (
            [4.0 * factor, 5.0 * factor],
            factor,
        )
