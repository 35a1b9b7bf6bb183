"""Weak tensors in functions, loops, gradients, datasets and files. TensorFlow 2.21 was asked."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from intaglio import tf
from intaglio.numpy_api import np_config
from intaglio.opdef import dispatch
from intaglio.promotion import functions, lattice
from intaglio.promotion.weak_tensor import WeakTensor

tnp = tf.experimental.numpy


@pytest.fixture(autouse=True)
def _promotes() -> Iterator[None]:
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
    yield
    np_config.disable_numpy_behavior()


def _is(value: object, dtype: tf.DType, weak: bool) -> bool:
    return isinstance(value, WeakTensor) is weak and value.dtype is dtype


# -- the lattice -----------------------------------------------------------------------

KINDS = sorted(lattice._ABOVE, key=str)


def test_the_lattice_is_one() -> None:
    for a, b in itertools.product(KINDS, KINDS):
        assert lattice.join(a, b) == lattice.join(b, a)
    for a, b, c in itertools.product(KINDS[::2], KINDS, KINDS[::3]):
        left = lattice.join(lattice.join(a, b), c)
        assert left == lattice.join(a, lattice.join(b, c)), (a, b, c)


def test_mode_safe_allows_no_more_than_mode_all() -> None:
    def joined(mode: lattice.Mode) -> dict[object, object]:
        lattice.Present.mode = mode
        found: dict[object, object] = {}
        for a, b in itertools.product(KINDS, KINDS):
            try:
                found[a, b] = lattice.join(a, b)
            except TypeError as e:
                assert str(a) in str(e) and str(b) in str(e)
        return found

    everything, safe = (joined(lattice.Mode(mode)) for mode in ("all", "safe"))
    assert len(safe) < len(everything) == len(KINDS) ** 2
    assert safe.items() <= everything.items()


@pytest.mark.parametrize("name", sorted(functions._AROUND))
def test_every_function_listed_can_be_surrounded(name: str) -> None:
    entry = dispatch.entry_of(dispatch.public(name))
    assert entry is not None and entry.around is not None
    np_config.disable_numpy_behavior()
    assert entry.around is None
    assert entry.targets or entry.function.__closure__[0].cell_contents is entry.body


# -- as Python sees it -----------------------------------------------------------------


def test_what_a_weak_tensor_is() -> None:
    w = tf.constant([[1.5, 2]])
    assert not isinstance(w, tf.Tensor) and tf.is_tensor(w)
    assert repr(w).endswith("dtype=float32, numpy=array([[1.5, 2. ]], dtype=float32), weak=True>")
    assert str(w) == "tf.Tensor([[1.5 2. ]], shape=(1, 2), dtype=float32, weak=True)"
    assert f"{tf.constant(1):03d}" == "001 weakly typed"
    assert repr(w._type_spec).startswith("WeakTensor.Spec(tensor=TensorSpec(shape=(1, 2)")
    for other in (copy.copy(w), copy.deepcopy(w), pickle.loads(pickle.dumps(w))):
        assert _is(other, tf.float32, weak=True)
        assert other.numpy().tolist() == [[1.5, 2]]
    with pytest.raises(TypeError, match="int64 is no weak type"):
        WeakTensor(tf.constant(1, tf.int64))
    spec = tf.TensorSpec.from_tensor(w)
    assert spec == tf.TensorSpec([1, 2], tf.float32)
    with pytest.raises(TypeError, match="unhashable"):
        hash(w)


def test_nothing_is_weak_once_it_is_off() -> None:
    w = tf.constant(1)
    np_config.disable_numpy_behavior()
    assert _is(tf.constant(1), tf.int32, weak=False)
    assert _is(w + 1, tf.int32, weak=False)
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        _ = tf.constant(1) + tf.constant(1.5)
    with pytest.raises(AttributeError):
        _ = w.T


# -- functions, loops, branches --------------------------------------------------------


def test_functions_trace_weak_and_strong_arguments_apart() -> None:
    seen: list[str] = []

    @tf.function(autograph=False)
    def f(x):
        seen.append(str(x))
        return x + 1.5, tf.constant(2), 3

    assert _is(f(tf.constant(1))[0], tf.float32, weak=True)
    assert _is(f(tf.constant(1, tf.int32))[0], tf.float64, weak=True)
    assert _is(f(tf.constant(1, tf.float16))[0], tf.float16, weak=False)
    assert seen[0] == 'Tensor("x:0", shape=(), dtype=int32, weak=True)'
    assert len(seen) == 3
    f(tf.constant(5))
    assert len(seen) == 3
    # Numbers that a function returns are weak, as its constants are.
    assert all(_is(v, tf.int32, weak=True) for v in f(tf.constant(1))[1:])


def test_an_input_signature_takes_weak_tensors_as_tensors() -> None:
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def f(x):
        return x, x + 1.5

    same, sum_ = f(tf.constant(1))
    assert _is(same, tf.int32, weak=False) and _is(sum_, tf.float64, weak=True)


def test_branches() -> None:
    @tf.function
    def f(x, y):
        z = y
        n = 1
        if x > 0:
            y = y * 2
            n = 2
            m = 1
        else:
            y = y * 3.0
            m = 2.5
        if z > 1:
            y = y + 1
        return y, n, m

    y, n, m = f(tf.constant(1), tf.constant(1.5))
    assert _is(y, tf.float32, weak=True) and y.numpy() == 4.0
    assert _is(n, tf.int32, weak=True) and n.numpy() == 2
    assert _is(m, tf.float32, weak=True) and m.numpy() == 1.0
    y, *_ = f(tf.constant(1), tf.constant(1.5, tf.bfloat16))
    assert _is(y, tf.bfloat16, weak=False)

    @tf.function
    def differs(x):
        y = tf.constant(1) if x > 0 else tf.constant(1, tf.int32)
        if x > 0:
            y = tf.constant(2)
        else:
            y = tf.constant(3, tf.int32)
        return y

    with pytest.raises(TypeError, match="same nested structure"):
        differs(tf.constant(1))

    @tf.function
    def asks(x):
        return 1 if x else 2

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected to be `tf\.bool` scalar"):
        asks(tf.constant(1))


def test_loops() -> None:
    @tf.function
    def f(n):
        x = tf.constant(0)
        i = tf.constant(0)
        while i < n:
            x = x + i
            i += 1
        s = tf.constant(0, tf.int32)
        for k in range(i):
            s -= k
            s += k
        for k in tf.constant([1, 2, 3]):
            s += k
        return x, i, s

    x, i, s = f(tf.constant(4))
    assert _is(x, tf.int32, weak=True) and x.numpy() == 6
    assert _is(i, tf.int32, weak=True) and i.numpy() == 4
    assert _is(s, tf.int32, weak=False) and s.numpy() == 6

    @tf.function
    def changes(n):
        x = tf.constant(0)
        for _ in tf.range(n):
            x = x + 1.5
        return x

    with pytest.raises(TypeError, match="'x' does not have the same nested structure"):
        changes(tf.constant(2))


def test_functions_of_functions() -> None:
    w = tf.constant([1, 2, 3])
    for mapped in (tf.map_fn, tf.vectorized_map):
        doubled = mapped(lambda x: x * 2, w)
        assert _is(doubled, tf.int32, weak=True)
        assert doubled.numpy().tolist() == [2, 4, 6]
    assert _is(tf.cond(tf.constant(True), lambda: w, lambda: w), tf.int32, weak=True)
    i, _ = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x), (tf.constant(0), w))
    assert _is(i, tf.int32, weak=True)
    assert _is(tf.scan(lambda a, x: a + x, w), tf.int32, weak=False)


# -- gradients -------------------------------------------------------------------------


def test_gradients_by_weak_tensors_are_weak() -> None:
    w = tf.constant([1.5, 2.0])
    x = tf.constant([3.0, 4.0], tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([w, x])
        y = w * w * x
        z = w * w
    by_w, by_x = tape.gradient(y, [w, x])
    assert _is(by_w, tf.float32, weak=True)
    assert by_w.numpy().tolist() == [9.0, 16.0]
    assert _is(by_x, tf.float64, weak=False)
    assert by_x.numpy().tolist() == [2.25, 4.0]
    assert _is(tape.jacobian(z, w), tf.float32, weak=True)
    assert tape.jacobian(z, w).numpy().tolist() == [[3.0, 0.0], [0.0, 4.0]]


def test_gradients_by_variables() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.constant(3.0) * v + 1.5
    assert _is(tape.gradient(y, v), tf.float32, weak=False)


def test_own_gradients() -> None:
    @tf.custom_gradient
    def f(x):
        return x * 2, lambda d: d * 5

    w = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = f(w)
    assert _is(y, tf.float32, weak=True)
    by = tape.gradient(y, w)
    assert _is(by, tf.float32, weak=True) and by.numpy() == 5.0
    assert _is(f(tf.constant(1.0, tf.float64)), tf.float64, weak=False)


# -- variables, datasets, files --------------------------------------------------------


def test_variables_keep_their_type() -> None:
    v = tf.Variable(1.5)
    v.assign(2)
    v.assign_add(tf.constant(1, tf.int16))
    v.assign_sub(tf.constant(0.5))
    assert v.numpy() == 2.5
    with pytest.raises(TypeError, match=r"Variable dtype is immutable.*assign_add"):
        v.assign_add(tf.constant(1.0, tf.float64))

    @tf.function
    def add(x):
        return v.assign_add(x)

    assert add(tf.constant(1, tf.int32)).numpy() == 3.5


def test_datasets() -> None:
    data = tf.data.Dataset.from_tensor_slices({"a": tf.constant([1, 2])})
    assert repr(data.element_spec["a"]).startswith("WeakTensor.Spec")
    [batch] = data.map(lambda e: e["a"] + 1.5).batch(2)
    assert _is(batch, tf.float32, weak=True)
    assert batch.numpy().tolist() == [2.5, 3.5]


def test_saving(tmp_path: Path) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            self.v = tf.Variable(1.0)

        @tf.function
        def __call__(self, x):
            return self.v * x + tf.constant(2.0), tf.constant(1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def serve(self, x):
            return {"y": x * 2.0, "w": tf.constant(1.0) * 2}

    model = Model()
    model(tf.constant(1.0))
    model(tf.constant(1.0, tf.float32))
    tf.saved_model.save(model, str(tmp_path), signatures=model.serve)
    loaded = tf.saved_model.load(str(tmp_path))
    for given in (tf.constant(1.0), tf.constant(1.0, tf.float32)):
        y, one = loaded(given)
        assert _is(y, tf.float32, weak=False) and y.numpy() == 3.0
        assert _is(one, tf.int32, weak=True)
    served = loaded.signatures["serving_default"](x=tf.constant([1.0]))
    assert _is(served["w"], tf.float32, weak=False)
    assert served["w"].numpy() == 2.0


def test_other_types_stay_out_of_it() -> None:
    ragged = tf.ragged.constant([[1], [2, 3]])
    assert (tf.constant(1) + ragged).to_list() == [[2], [3, 4]]
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        _ = ragged + 1.5
    assert (np.float16(1.5) + tf.constant(1)).dtype is tf.float16
    with pytest.raises(NotImplementedError, match="Implicit Conversion between"):
        tnp.result_type("a", tf.float32)
    with pytest.raises(OverflowError, match=r"too large to convert to np\.int32"):
        tf.constant(1, tf.int64) + 2**40
