"""The mechanism by which public functions take composite values."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import traceback
from typing import Any

import pytest

from intaglio import tf
from intaglio.opdef import dispatch
from intaglio.opdef.elementwise_names import ASSERTIONS, BINARY, UNARY


class Celsius(tf.experimental.ExtensionType):
    """Degrees, for functions of their own."""

    degrees: tf.Tensor


def test_a_function_keeps_its_signature_and_its_name() -> None:
    before = inspect.signature(tf.math.xlogy)

    @tf.experimental.dispatch_for_api(tf.math.xlogy, {"x": Celsius})
    def own(x: Any, y: Any) -> Any:
        return "own"

    try:
        assert inspect.signature(tf.math.xlogy) == before
        assert tf.math.xlogy.__name__ == "xlogy"
        assert tf.math.xlogy(Celsius(1.0), 2.0) == "own"
        assert tf.math.xlogy(y=2.0, x=Celsius(1.0)) == "own"
        assert tf.math.xlogy(0.0, 2.0).numpy() == 0
    finally:
        tf.experimental.unregister_dispatch_for(own)


def test_names_bound_before_see_the_change_and_its_end() -> None:
    early = tf.math.invert_permutation
    implementation = early.__closure__[0]  # pyright: ignore[reportOptionalSubscript]
    entry = dispatch.entry_of(early)
    assert entry is not None

    @tf.experimental.dispatch_for_api(tf.math.invert_permutation)
    def own(x: Celsius) -> Any:
        return "own"

    assert early(Celsius(1.0)) == "own"
    tf.experimental.unregister_dispatch_for(own)
    assert (implementation.cell_contents is entry.body) == (not dispatch.EVERYWHERE)
    with pytest.raises((TypeError, ValueError)):
        early(Celsius(1.0))


def test_a_public_function_is_as_it_was_defined() -> None:
    def example(x: Any, y: int = 2, /, *, z: str = "z", name: str | None = None) -> Any:
        """Returns its arguments."""
        return x, y, z, name

    example.mark = 3  # type: ignore[attr-defined]
    public = dispatch.dispatchable(example)
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        assert getattr(public, attribute) == getattr(example, attribute)
    assert inspect.getfullargspec(public) == inspect.getfullargspec(example)
    assert inspect.signature(public) == inspect.signature(example)
    assert inspect.getsource(public) == inspect.getsource(example)
    assert not hasattr(public, "__wrapped__")
    assert public.mark == 3  # type: ignore[attr-defined]
    assert public(1) == example(1)
    assert public(1, 5, z="a", name="n") == (1, 5, "a", "n")


def test_names_of_one_function_are_one_object_that_pickles() -> None:
    assert tf.add is tf.math.add
    assert pickle.loads(pickle.dumps(tf.reduce_sum)) is tf.reduce_sum


def test_functions_of_any_arguments_cannot_be_dispatched() -> None:
    def anything(*args: Any) -> Any:
        return args

    with pytest.raises(TypeError, match="anything takes any number of arguments"):
        dispatch.dispatchable(anything)
    with pytest.raises(ValueError, match="does not support dispatch"):
        dispatch.handle("print", anything, inputs=Celsius)


def test_parameters_by_name_only_reach_targets_and_bodies() -> None:
    @dispatch.dispatchable
    def scaled(x: Any, *, by: Any = 2) -> Any:
        return x * by

    def own(x: Any, by: Any) -> Any:
        return "own", by

    dispatch.register(scaled, own, [((0, (False, (Celsius,))),)])
    try:
        assert scaled(3) == 6
        assert scaled(3, by=5) == 15
        assert scaled(Celsius(1.0), by=4) == ("own", 4)
        assert scaled(x=Celsius(1.0)) == ("own", 2)
    finally:
        dispatch.withdraw(own)


def test_frames_of_dispatch_are_not_shown_in_user_errors() -> None:
    tf.ragged.constant([[1]])

    @tf.function
    def f(x: Any) -> Any:
        return tf.add(x, "text")

    with pytest.raises((TypeError, ValueError)) as caught:
        f(tf.constant(1))
    shown = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert shown.count(__file__) == 2
    assert not [name for name in shown if "dispatch>" in name or "/tf/math/" in name]


def test_errors_of_plain_arguments_stay_what_they_are() -> None:
    tf.ragged.constant([[1]])
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        tf.reduce_sum([1], nothing=2)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        tf.concat([[1]])  # pyright: ignore[reportCallIssue]


def test_the_first_target_that_fits_takes_the_call() -> None:
    calls: list[str] = []

    @tf.experimental.dispatch_for_api(tf.math.nextafter, {"x1": Celsius, "x2": Celsius})
    def both(x1: Any, x2: Any) -> Any:
        calls.append("both")

    @tf.experimental.dispatch_for_api(tf.math.nextafter, {"x1": Celsius})
    def first(x1: Any, x2: Any) -> Any:
        calls.append("first")

    try:
        tf.math.nextafter(Celsius(1.0), Celsius(2.0))
        tf.math.nextafter(Celsius(1.0), 2.0)
    finally:
        tf.experimental.unregister_dispatch_for(both)
        tf.experimental.unregister_dispatch_for(first)
    assert calls == ["both", "first"]


def test_ragged_and_own_types_share_a_function() -> None:
    @tf.experimental.dispatch_for_unary_elementwise_apis(Celsius)
    def handler(api_func: Any, x: Celsius) -> Celsius:
        return Celsius(api_func(x.degrees))

    try:
        assert tf.abs(Celsius([-1.0])).degrees.numpy().tolist() == [1.0]
        assert tf.abs(tf.ragged.constant([[-1], []])).to_list() == [[1], []]
        assert tf.abs(-1).numpy() == 1
    finally:
        tf.experimental.unregister_dispatch_for(handler)


@pytest.mark.parametrize("names", [UNARY, BINARY, ASSERTIONS])
def test_elementwise_functions_can_be_dispatched(names: tuple[str, ...]) -> None:
    there = [name for name in names if dispatch.public(name) is not None]
    assert len(there) > 6
    assert not [n for n in there if dispatch.entry_of(dispatch.public(n)) is None]


def test_programs_without_ragged_tensors_do_not_load_them() -> None:
    program = (
        "import sys; from intaglio import tf; tf.reduce_sum([1, 2]); tf.add(1, 2); "
        "print([m for m in sys.modules if m.startswith('intaglio.ragged')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_operators_of_tensors_and_own_types() -> None:
    @tf.experimental.dispatch_for_binary_elementwise_apis(Celsius | tf.Tensor, Celsius | tf.Tensor)
    def handler(api_func: Any, x: Any, y: Any) -> Celsius:
        x, y = [v.degrees if isinstance(v, Celsius) else v for v in (x, y)]
        return Celsius(api_func(x, y))

    one, two = tf.constant(1.0), Celsius(2.0)
    try:
        # TensorFlow dispatches these, but not `one + two`.
        assert (one - two).degrees.numpy() == -1
        assert (one**two).degrees.numpy() == 1
        assert (one < two).degrees.numpy()
        assert (one + two).degrees.numpy() == 3
        assert (two + one).degrees.numpy() == 3
    finally:
        tf.experimental.unregister_dispatch_for(handler)
    with pytest.raises(ValueError, match="unsupported type"):
        _ = one - two
