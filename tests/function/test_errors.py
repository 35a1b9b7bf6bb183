"""Errors of user code while tracing and while running, reported with the user's lines."""

import re

import pytest

from intaglio import tf
from intaglio.base.errors import OperatorNotAllowedInGraphError
from tests.printing import by_any_python


def raised(error, call):
    with pytest.raises(error) as info:
        call()
    return info.value


def test_trace_time_errors_show_the_users_line():
    @tf.function
    def u(a):
        b = a * 2
        return b + tf.ones([3])  # shapes do not fit

    e = raised(ValueError, lambda: u(tf.ones([2])))
    assert type(e) is ValueError
    lines = str(e).split("\n")
    assert lines[:2] == ["in user code:", ""]
    assert re.fullmatch(r'    File ".*test_errors\.py", line \d+, in u  \*', lines[2])
    assert lines[3] == "        return b + tf.ones([3])  # shapes do not fit"
    assert lines[5] == (
        "    ValueError: Dimensions must be equal, but are 2 and 3 for '{{node add}} = AddV2[T=DT_FLOAT](mul, ones)' "
        "with input shapes: [2], [3]."
    )
    assert e.__suppress_context__ or e.__cause__ is None


def test_nested_functions_show_one_list_of_frames():
    @tf.function
    def inner(a):
        return a + tf.ones([3])

    @tf.function
    def outer(a):
        return inner(a)

    text = str(raised(ValueError, lambda: outer(tf.ones([2]))))
    assert text.count("in user code:") == 1
    assert text.index("return inner(a)") < text.index("return a + tf.ones([3])")
    assert text.count("ValueError:") == 1


def test_without_autograph_errors_come_as_they_are():
    @tf.function(autograph=False)
    def u(a):
        return a + tf.ones([3])

    text = str(raised(ValueError, lambda: u(tf.ones([2]))))
    assert text.startswith("Dimensions must be equal, but are 2 and 3")


class Plain(Exception):
    pass


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(a)


class Slotted(Exception):
    """Nothing can be remembered on it but what every exception has."""

    __slots__ = ()

    def __setattr__(self, name, value):
        if not name.startswith("__"):
            raise AttributeError(name)
        super().__setattr__(name, value)


RAISED = [
    (KeyError, "k"),
    (Plain, "p", 3),
    (TwoArguments, "t", 2),
    (ZeroDivisionError, "z"),
    (UnicodeDecodeError, "utf8", b"x", 0, 1, "why"),
    (OperatorNotAllowedInGraphError, "no"),
    (tf.errors.NotFoundError, None, None, "gone"),
    (Slotted, "s"),
]


@pytest.mark.parametrize("made", RAISED, ids=lambda m: m[0].__name__)
@pytest.mark.parametrize("nested", [False, True])
def test_what_the_user_raises_is_the_users_object(made, nested):
    """TensorFlow raises another one, or a StagingError: here the place is in a note."""
    error = made[0](*made[1:])

    @tf.function
    def inner():
        raise error

    @tf.function
    def outer():
        return inner()

    shown, arguments = str(error), error.args
    e = raised(type(error), outer if nested else inner)
    assert e is error
    assert (str(e), e.args) == (shown, arguments)
    note = e.__notes__[0]
    assert note.startswith("in user code:\n\n    File ")
    assert "        raise error" in note
    if not isinstance(error, Slotted):
        assert len(e.__notes__) == 1
        assert ("return inner()" in note) is nested
        assert note.count("raise error") == 1


def test_errors_of_ops_have_their_class_and_line():
    def f(x):
        return {1: 2}[x]

    e = raised(TypeError, lambda: tf.function(f)(tf.constant(1)))
    assert type(e) is TypeError
    assert str(e).startswith("in user code:")
    assert "    TypeError: Tensor is unhashable." in by_any_python(str(e))
    assert "`{1: 2}[x]`: x is int32[]" in e.__notes__


def test_an_error_that_is_caught_while_tracing_is_as_it_was():
    @tf.function
    def f(x):
        try:
            raise Plain("p")
        except Plain as e:
            assert e.args == ("p",) and not hasattr(e, "__notes__")
        return x

    assert int(f(tf.constant(1))) == 1


def test_a_failed_trace_leaves_nothing_behind():
    broken = [True]

    @tf.function
    def f(x):
        if broken[0]:
            raise ValueError("not yet")
        return x + 1

    raised(ValueError, lambda: f(tf.constant(1)))
    broken[0] = False
    assert tf.executing_eagerly()
    assert int(f(tf.constant(1))) == 2
    assert len(f._list_all_concrete_functions()) == 1


def test_run_time_errors_name_node_and_function():
    @tf.function
    def r(a):
        return tf.gather(a, [7]) + 1.0

    for _ in range(4):  # by binding and by an entry
        e = raised(tf.errors.InvalidArgumentError, lambda: r(tf.ones([2])))
        text = str(e)
        assert text.startswith(
            "Graph execution error:\n\nDetected at node GatherV2 defined at (most recent call last):\n"
        )
        assert re.search(r'  File ".*test_errors\.py", line \d+, in r\n', text)
        assert re.search(
            r"indices\[0\] = 7 is not in \[0, 2\)\n\t \[\[\{\{node GatherV2\}\}\]\] \[Op:__inference_r_\d+\]$",
            text,
        )


def test_run_time_errors_of_inner_functions():
    inner = tf.function(lambda a: tf.gather(a, [7]))
    outer = tf.function(lambda a: inner(a) + 1.0)
    text = str(raised(tf.errors.InvalidArgumentError, lambda: outer(tf.ones([2]))))
    assert text.count("Graph execution error:") == 1
    assert "[[{{node GatherV2}}]]" in text


def test_outputs_that_are_no_tensors():
    def f():
        return [object()]

    e = raised(TypeError, tf.function(f))
    assert str(e) == (
        "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None "
        f"values; in compilation of {f!r}, found return value of type object, which is not a Tensor or ExtensionType."
    )


def test_endless_recursion_is_an_error_of_user_code():
    @tf.function
    def f(x):
        return f(x + 1)

    e = raised(RecursionError, lambda: f(tf.constant(1)))
    assert "maximum recursion depth exceeded" in str(e)
    assert tf.executing_eagerly()


def _helper(x):
    return x + tf.ones([3])


@tf.autograph.experimental.do_not_convert
def _unconverted(x):
    return _helper(x)


class _Method:
    def run(self, x):
        if x[0] > 0:
            return _helper(x)
        return x


@pytest.mark.parametrize(
    ("call", "marks"),
    [
        (_helper, ["f  *", "_helper  *"]),
        (_unconverted, ["f  *", "_unconverted  **", "_helper"]),
        (lambda x: _Method().run(x), ["f  *", "<lambda>  *", "run  *", "_helper  *"]),
        (lambda x: list(map(_helper, [x])), ["f  *", "<lambda>  *", "_helper  **"]),
        (tf.function(_helper, autograph=False), ["f  *", "_helper"]),
    ],
    ids=["helper", "unconverted", "branch", "map", "function"],
)
def test_frames_are_marked_as_in_tensorflow(call, marks):
    @tf.function
    def f(x):
        return call(x)

    text = str(raised(ValueError, lambda: f(tf.ones([2]))))
    assert re.findall(r"line \d+, in (.*)\n", text) == marks
