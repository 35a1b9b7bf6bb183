"""Calls of functions that implement one interface; the answers are those of TensorFlow 2.21 that was asked."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ir import implementations

NAMES = iter(range(10**6))


def pair(default=lambda x: x + 1.0, for_cpu=lambda x: x + 2.0, devices=(None, "CPU")):
    """Two functions of one new interface, and a call of the first that makes both known."""
    name = f"interface_{next(NAMES)}"
    made = []
    for function, device in zip((default, for_cpu), devices, strict=True):
        attributes = {"api_implements": name}
        if device is not None:
            attributes["api_preferred_device"] = device
        made.append(tf.function(function, autograph=False, experimental_attributes=attributes))

    def call(*args):
        result = made[0](*args)
        made[1].get_concrete_function(*args).add_to_graph()
        return result

    return (*made, call)


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        ((None, "CPU"), 3.0),
        (("GPU", "CPU"), 3.0),
        ((None, "GPU"), 2.0),
        (("CPU", "GPU"), 2.0),
        ((None, None), 2.0),
        (("CPU", None), 2.0),
        ((None, "cpu"), 2.0),
        ((None, "/device:CPU:0"), 2.0),
    ],
)
def test_the_preferred_device_decides(devices, expected):
    *_, call = pair(devices=devices)
    f = tf.function(call)
    assert [float(f(tf.constant(1.0))) for _ in range(3)] == [expected] * 3


def placed(call, place):
    """A function of one number that calls at this place: alone, in a branch, a body, a function."""
    if place == "branch":
        return lambda x: tf.cond(x > -100.0, lambda: call(x), lambda: x)
    if place == "body":
        return lambda x: tf.while_loop(
            lambda i, v: i < 2, lambda i, v: (i + 1, call(v)), [tf.constant(0), x]
        )[1]
    if place == "function":
        inner = tf.function(call)
        return lambda x: inner(x)
    if place == "mapped":
        return lambda x: tf.map_fn(call, x[None])[0]
    return call


PLACES = ("here", "branch", "body", "function", "mapped")


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3), st.floats(-3, 3, width=16))
def test_calls_at_any_depth_run_the_function_for_the_cpu(places, x):
    _, for_cpu, call = pair(lambda x: x * 2.0 + 1.0, lambda x: x * 3.0 - 1.0)
    expected = for_cpu.python_function
    for place in places:
        call, expected = placed(call, place), placed(expected, place)
    f, wanted = tf.function(call), tf.function(expected)
    for _ in range(3):
        np.testing.assert_array_equal(f(tf.constant(x)), wanted(tf.constant(x)))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("outside", [True, False])
def test_gradients_are_those_of_the_function_that_runs(place, outside):
    *_, call = pair(lambda x: x * x * 2.0, lambda x: x * x * x)
    call = placed(call, place)

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) if outside else call(x)
        return y, tape.gradient(y, x)

    f = tf.function(call)
    run = slope if outside else tf.function(slope)
    x = tf.constant(2.0)
    expected = (512.0, 9 * 256.0) if place == "body" else (8.0, 12.0)
    assert [tuple(map(float, run(x))) for _ in range(3)] == [expected] * 3


def test_both_are_known_without_add_to_graph():
    default, for_cpu, _ = pair()
    assert [
        float(v) for v in tf.function(lambda x: (default(x), for_cpu(x)))(tf.constant(1.0))
    ] == [3, 3]
    default, for_cpu, _ = pair()
    concrete = for_cpu.get_concrete_function(tf.constant(1.0))
    assert float(tf.function(lambda x: default(x))(tf.constant(1.0))) == 3.0
    assert float(concrete(tf.constant(1.0))) == 3.0


def test_a_function_called_eagerly_is_itself():
    default, for_cpu, _ = pair()
    x = tf.constant(1.0)
    for_cpu.get_concrete_function(x).add_to_graph()
    assert float(default(x)) == 2.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = default(x)
    assert (float(y), float(tape.gradient(y, x))) == (2.0, 1.0)


def test_a_tape_that_watches_nothing_of_it_changes_nothing():
    *_, call = pair()
    f = tf.function(call)
    with tf.GradientTape():
        assert float(f(tf.constant(1.0))) == 3.0


def test_compiled_functions_call_what_they_name():
    *_, call = pair()
    f = tf.function(call, jit_compile=True)
    assert float(f(tf.constant(1.0))) == 2.0
    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        y = f(x)
    assert float(y) == 2.0
    # A function traced elsewhere before, with the call in it.
    *_, call = pair()
    inner = tf.function(call)
    assert float(inner(tf.constant(1.0))) == 3.0
    assert float(tf.function(lambda x: inner(x), jit_compile=True)(tf.constant(1.0))) == 2.0
    assert float(inner(tf.constant(1.0))) == 3.0


def test_options_switch_it_off():
    before = dict(tf.config.optimizer.get_experimental_options())
    try:
        for options in ({"implementation_selector": False}, {"disable_meta_optimizer": True}):
            tf.config.optimizer.set_experimental_options(options)
            assert float(tf.function(pair()[-1])(tf.constant(1.0))) == 2.0
            tf.config.optimizer.set_experimental_options({k: not v for k, v in options.items()})
            assert float(tf.function(pair()[-1])(tf.constant(1.0))) == 3.0
    finally:
        tf.config.optimizer.set_experimental_options(
            {"implementation_selector": True, "disable_meta_optimizer": False, **before}
        )


@pytest.mark.parametrize(
    "for_cpu",
    [
        lambda x: tf.cast(x * 7.0, tf.float64),
        lambda x: (x * 7.0, x),
        lambda x: tf.concat([x, x], 0),  # TensorFlow runs it, against the static shape
    ],
)
def test_a_function_with_other_results_does_not_stand_in(for_cpu):
    *_, call = pair(lambda x: x * 2.0, for_cpu)
    assert float(tf.function(call)(tf.constant([3.0]))[0]) == 6.0


def test_what_the_named_function_returns_is_not_known_in_the_graph():
    constants = pair(lambda x: tf.constant([1, 2]), lambda x: tf.constant([3, 4]))[-1]

    @tf.function
    def f(x):
        known = constants(x)
        return known, tf.get_static_value(known) is None, tf.zeros(known)

    for _ in range(3):
        values, unknown, zeros = f(tf.constant(1.0))
        assert values.numpy().tolist() == [3, 4]
        assert unknown
        assert zeros.shape == (3, 4)


def test_a_function_with_other_captures_does_not_stand_in():
    large = tf.constant(np.full(1000, 10.0))
    *_, call = pair(lambda x: x * 2.0, lambda x: x * large[0])
    assert float(tf.function(call)(tf.constant(3.0, tf.float64))) == 6.0


def test_it_survives_saving(tmp_path):
    module = tf.Module()
    module.f = tf.function(pair()[-1], input_signature=[tf.TensorSpec([], tf.float32)])
    assert float(module.f(tf.constant(1.0))) == 3.0
    tf.saved_model.save(module, str(tmp_path))
    assert float(tf.saved_model.load(str(tmp_path)).f(tf.constant(1.0))) == 3.0


def test_attributes_are_written():
    f = tf.function(
        lambda x: x,
        experimental_implements="my.function",
        experimental_attributes={
            "api_implements": "a b",
            "api_preferred_device": "CPU",
            "_noinline": True,
            "disable_summaries_at_runtime": ["q"],
        },
    )
    written = f.get_concrete_function(tf.constant(1.0)).function_def.attr
    assert written["api_implements"].s == b"a b"
    assert written["api_preferred_device"].s == b"CPU"
    assert written["_implements"].s == b"my.function"
    assert written["_noinline"].b is True
    assert list(written["disable_summaries_at_runtime"].list.s) == [b"q"]


@pytest.mark.parametrize(
    "name", ["forward_function_name", "backward_function_name", "foo_bar", "_custom"]
)
def test_other_attributes_are_refused(name):
    f = tf.function(lambda x: x, experimental_attributes={name: "x"})
    with pytest.raises(
        ValueError, match=f"`{name} is not supported by tf.function as an attribute"
    ):
        f(tf.constant(1.0))


def test_functions_are_forgotten_with_their_interface():
    _, for_cpu, call = pair()
    f = tf.function(call)
    f(tf.constant(1.0))
    (name,) = {for_cpu._options.attributes["api_implements"]}
    assert name in implementations._interfaces
    del for_cpu, call, f, _
    gc.collect()
    assert name not in implementations._interfaces
