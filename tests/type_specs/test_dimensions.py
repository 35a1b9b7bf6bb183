"""`intaglio.dims`: named dimensions of arguments, and constraints of their sizes."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import intaglio
from intaglio import tf

D = intaglio.dims("B>=1, T<=512, 1 <= H <= 8, T % H == 0, W == 2*H")


def summed(jit: bool | None = None) -> Any:
    @tf.function(input_signature=[D.spec(["B", "T", 4]), D.spec(["B"], tf.int32)], jit_compile=jit)
    def f(x: Any, lengths: Any) -> Any:
        return tf.reduce_sum(x) + tf.cast(tf.reduce_sum(lengths), tf.float32)

    return f


@pytest.mark.parametrize("jit", [None, True])
def test_one_trace_and_a_check_at_each_call(jit: bool | None) -> None:
    f = summed(jit)
    for _ in range(6):
        for b, t in ((1, 1), (2, 3), (2, 512)):
            assert float(f(tf.ones([b, t, 4]), tf.ones([b], tf.int32))) == b * t * 4 + b
        with pytest.raises(
            intaglio.DimensionError,
            match=r"f: lengths.shape\[0\] is 3, but B is 2, the size of x.shape\[0\]",
        ):
            f(tf.ones([2, 3, 4]), tf.ones([3], tf.int32))
        with pytest.raises(
            ValueError, match=r"f: T<=512 does not hold, for T is 513, the size of x"
        ):
            f(tf.ones([2, 513, 4]), tf.ones([2], tf.int32))
        with pytest.raises(intaglio.DimensionError, match="B>=1 does not hold, for B is 0"):
            f(tf.ones([0, 3, 4]), tf.ones([0], tf.int32))
    assert f.experimental_get_tracing_count() == 1


def test_several_names_in_a_constraint() -> None:
    f = tf.function(lambda x, y: x, input_signature=[D.spec(["T", "H"]), D.spec(["W"])])
    f(tf.ones([6, 3]), tf.ones([6]))
    with pytest.raises(
        intaglio.DimensionError, match=r"T%H==0 does not hold, for T is 7.*; H is 3"
    ):
        f(tf.ones([7, 3]), tf.ones([6]))
    with pytest.raises(intaglio.DimensionError, match=r"W==2\*H does not hold"):
        f(tf.ones([6, 3]), tf.ones([5]))
    with pytest.raises(intaglio.DimensionError, match="1<=H<=8 does not hold, for H is 9"):
        f(tf.ones([9, 9]), tf.ones([18]))


def test_concrete_functions_and_graphs_check_what_they_know() -> None:
    f = summed()
    with pytest.raises(intaglio.DimensionError):
        f.get_concrete_function()(tf.ones([2, 3, 4]), tf.ones([3], tf.int32))

    @tf.function
    def outer(x: Any, n: Any) -> Any:
        return f(x, n)

    assert float(outer(tf.ones([2, 3, 4]), tf.ones([2], tf.int32))) == 26.0
    with pytest.raises(intaglio.DimensionError):
        outer(tf.ones([2, 3, 4]), tf.ones([3], tf.int32))


def test_specs_are_tensor_specs() -> None:
    spec = D.spec(["B", None, 4], tf.float16, name="x")
    assert isinstance(spec, tf.TensorSpec)
    assert spec.shape.as_list() == [None, None, 4]
    assert (spec.dtype, spec.name) == (tf.float16, "x")
    again = pickle.loads(pickle.dumps(spec))
    assert again.axes == spec.axes
    assert repr(again.dimensions) == repr(D)


def test_in_a_structure() -> None:
    d = intaglio.dims("N")
    f = tf.function(
        lambda batch: batch["a"], input_signature=[{"a": d.spec(["N"]), "b": d.spec(["N"])}]
    )
    f({"a": tf.ones([2]), "b": tf.ones([2])})
    with pytest.raises(intaglio.DimensionError, match=r"batch.shape\[0\] is 3, but N is 2"):
        f({"a": tf.ones([2]), "b": tf.ones([3])})


@pytest.mark.parametrize(
    "text",
    [
        "B>",
        "B>=x.y",
        "f(B)<3",
        "B and T",
        "B>=1.5",
        "B",
        "__import__('os')<1",
        "[B]<[3]",
        "B if T<1 else T",
    ],
)
def test_what_is_no_comparison_is_refused(text: str) -> None:
    if text == "B":
        assert intaglio.dims(text).names == ("B",)
        return
    with pytest.raises(ValueError, match='such as "B>=1, T<=512'):
        intaglio.dims(text)


def test_a_name_that_is_not_declared() -> None:
    with pytest.raises(ValueError, match="does not name 'C'; it has B, T, H, W"):
        D.spec(["C"])


@given(st.integers(0, 6), st.integers(0, 6), st.integers(-2, 6))
def test_any_sizes(a: int, b: int, least: int) -> None:
    """A call is refused exactly where Python says that the comparison is false, or the sizes differ."""
    d = intaglio.dims(f"A>={least}, A+B<9")
    f = tf.function(
        lambda x, y, z: x, input_signature=[d.spec(["A"]), d.spec(["B"]), d.spec(["A"])]
    )
    allowed = a >= least and a + b < 9
    for third in (a, a + 1):
        call = (tf.ones([a]), tf.ones([b]), tf.ones([third]))
        if allowed and third == a:
            f(*call)
        else:
            with pytest.raises(intaglio.DimensionError):
                f(*call)
