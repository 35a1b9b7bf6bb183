"""The mechanism by which public functions take composite values."""

from __future__ import annotations

import inspect
import subprocess
import sys
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
    code = early.__code__

    @tf.experimental.dispatch_for_api(tf.math.invert_permutation)
    def own(x: Celsius) -> Any:
        return "own"

    assert early(Celsius(1.0)) == "own"
    tf.experimental.unregister_dispatch_for(own)
    assert early.__code__ is code


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
