"""Lines of TensorFlow's reference on which it raises, and here the program runs; and vice versa.

What TensorFlow 2.21 says was asked of it, program by program.
"""

# ruff: noqa: B007

from __future__ import annotations

import asyncio
import doctest
import inspect
import io
import pdb
import re
from collections.abc import Callable
from typing import Any

import pytest

from intaglio import strict, tf

from .checklist import item
from .test_data_in_blocks import flat

TOTAL: Any = 0


def agrees(function: Callable[..., Any], *values: Any) -> None:
    """Traced, the function gives what it gives eagerly."""
    traced = tf.function(function)
    for n in values:
        assert flat(traced(tf.constant(n))) == flat(function(tf.constant(n)))


# -- loops ------------------------------------------------------------------------------------


@item("raises: shape of a loop variable")
def test_loop_var_shape() -> None:
    """TensorFlow: ValueError, 'x' has shape (1,) before the loop, but shape (2,) after one iteration."""

    def f(n: Any) -> Any:
        x = tf.constant([1])
        for _ in tf.range(n):
            x = tf.concat([x, x], 0)
        return x

    agrees(f, 3, 0)


@item("raises: conditional return in a loop")
def test_conditional_return_inside_a_tensor_loop() -> None:
    """TensorFlow: NotImplementedError, a return statement cannot be placed inside this TensorFlow loop."""

    def f(n: Any) -> Any:
        for i in tf.range(n):
            if i > 1:
                return i
        return n

    agrees(f, 5, 1)


@item("raises: conditional return in a loop")
def test_return_that_depends_on_a_static_python_condition() -> None:
    """TensorFlow: ValueError where the flag is off, the return value may only be a Tensor."""

    def f(n: Any, flag: bool) -> Any:
        for i in tf.range(n):
            if flag:
                return i + 10
        return n

    for flag in (True, False):
        agrees(lambda n, flag=flag: f(n, flag), 3)


@item("raises: break in a Python loop")
def test_break_and_return_in_a_python_for() -> None:
    """TensorFlow: NotImplementedError, ... are not supported in Python for loops."""

    def broken(n: Any) -> Any:
        for i in [1, 2, 3]:
            if n < i:
                break
        return i

    def returned(n: Any) -> Any:
        for i in [1, 2, 3]:
            if n < i:
                return i * 10
        return n

    agrees(broken, 0, 1, 2, 7)
    agrees(returned, 0, 1, 2, 7)


@item("raises: a condition that becomes a tensor")
def test_condition_of_while_loop_started_as_non_tensor() -> None:
    """TensorFlow: NotImplementedError, ... started as non-Tensor, then changed to Tensor."""

    def while_true(n: Any) -> Any:
        while True:
            n = n - 1
            if n < 0:
                break
        return n

    def turned(n: Any) -> Any:
        x = 3
        while x > 0:
            x = n - 3
            n = n - 1
        return x, n

    agrees(while_true, 3, 0)
    agrees(turned, 5, 0)


@item("raises: None or undefined in a loop")
def test_x_must_be_defined_before_the_loop() -> None:
    def f(n: Any) -> Any:
        while n > 0:
            n -= 1
            y = y + 1  # noqa: F821, F841
        return n

    text = "'y' must be defined before the loop"
    with pytest.raises(ValueError, match=text) as caught:
        tf.function(f)(tf.constant(3))
    assert "UnboundLocalError: 'y' is used before assignment" in str(caught.value)


@item("raises: None or undefined in a loop")
def test_x_is_not_allowed_to_be_none_before_the_loop() -> None:
    """TensorFlow: ValueError. Here it is Python's own error, and None may become a tensor."""

    def used(n: Any) -> Any:
        x: Any = None
        while n > 0:
            n -= 1
            x = x + 1
        return x

    def tested(n: Any) -> Any:
        x: Any = None
        while n > 0:
            n -= 1
            x = n if x is None else x + 1
        return x

    with pytest.raises(TypeError, match="unsupported operand type"):
        tf.function(used)(tf.constant(3))
    agrees(tested, 3, 1)


@item("raises: structure of a loop variable")
def test_structure_of_the_shape_invariant() -> None:
    """TensorFlow: ValueError, The two structures don't have the same nested structure."""

    def f(n: Any) -> Any:
        x = (n, n)
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, (tf.TensorShape([]),))]
            )
            x = (x[1], x[0])
        return x

    text = "The two structures don't have the same nested structure"
    with pytest.raises(ValueError, match=text):
        tf.function(f)(tf.constant(3))


# -- expressions ------------------------------------------------------------------------------


@item("raises: truth")
def test_min_and_max_of_a_tensor_and_assert() -> None:
    """TensorFlow: OperatorNotAllowedInGraphError, ... as a Python `bool` is not allowed."""

    def f(n: Any) -> Any:
        assert n > -5
        return min(n, 1), max(n, 4)

    agrees(f, 3, 0, 7)


@item("raises: attributes of tensors")
def test_round_of_a_tensor() -> None:
    """As TensorFlow says it: the method is NumPy's, which is not switched on."""
    with pytest.raises(AttributeError, match="SymbolicTensor object has no attribute"):
        tf.function(lambda n: round(n))(tf.constant(1.5))


@item("raises: static index out of bounds")
def test_static_out_of_bounds_in_a_branch() -> None:
    """TensorFlow: ValueError while tracing, though the branch is never taken."""

    def f(n: Any) -> Any:
        row = tf.stack([n, n])
        if n > 100:
            return row[4]
        return row[0]

    def in_a_body(n: Any) -> Any:
        row, last = tf.stack([n, n]), n
        for _ in tf.range(n):
            last = row[2] + last
        return last

    agrees(f, 3, 0)
    agrees(in_a_body, 0)
    text = "slice index 4 of dimension 0 out of bounds"
    for function in (f, tf.function(f)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            function(tf.constant(101))
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 2"):
        tf.function(in_a_body)(tf.constant(1))
    with strict(), pytest.raises(ValueError, match=text):
        tf.function(f)(tf.constant(3))
    with pytest.raises(ValueError, match=text):  # nothing decides about this one
        tf.function(lambda n: tf.stack([n, n])[4])(tf.constant(3))


@item("silently wrong: del")
def test_del_of_an_item_in_one_branch() -> None:
    """TensorFlow: ValueError at the `if`. Here it is an error where the dictionary is used."""

    def used(n: Any) -> Any:
        d = {"a": n, "b": n}
        if n > 0:
            del d["a"]
        return len(d)

    def set_again(n: Any) -> Any:
        d = {"a": n, "b": n}
        if n > 0:
            del d["b"]
            d["b"] = n + 1
        return d

    with pytest.raises(TypeError, match=r"the dict that line \d+ \(`del d\[.a.\]`\)"):
        tf.function(used)(tf.constant(1))
    agrees(set_again, 3, 0)


@item("raises: bad return values")
def test_text_of_a_bad_return_value() -> None:
    text = (
        "To be compatible with tf.function, Python functions must return zero or more Tensors or "
        "ExtensionTypes or None values; in compilation of <function "
    )
    rest = "found return value of type object, which is not a Tensor or ExtensionType."
    with pytest.raises(TypeError, match=re.escape(text)) as caught:
        tf.function(lambda: object())()
    assert rest in str(caught.value)


# -- what is called ---------------------------------------------------------------------------


@item("converts: callees")
def test_local_object_that_is_called() -> None:
    """TensorFlow runs it as it is: "closure mismatch, requested ('ag__',)"."""

    def f(n: Any) -> Any:
        class Local:
            def __init__(self, kept: Any) -> None:
                self.kept = kept

            def __call__(self, y: Any) -> Any:
                if y > n:
                    return y
                return self.kept

        return Local(n)(n + 1), Local(n)(n - 1)

    agrees(f, 3, 0)


class Mangled:
    """Has private names."""

    __step = 2

    def __init__(self, x: Any) -> None:
        self.__x = x

    def run(self, n: Any) -> Any:
        __i = n
        while __i > 0:
            __i = __i - self.__step
            self.__x = self.__x + __i
        return self.__x


@item("left alone: private names")
def test_mangled_names() -> None:
    """TensorFlow leaves the whole function alone: mangled names are not yet supported."""
    agrees(lambda n: Mangled(n).run(n), 5, 0)


@item("silently wrong: lambdas over loop names")
def test_lambda_that_closes_over_the_loop_symbol() -> None:
    """TensorFlow gives 9 for 3: the lambda sees the value from before the loop."""

    def f(n: Any) -> Any:
        i, total = n, n * 0
        read = lambda: i  # noqa: E731
        for i in tf.range(n):
            total += read()
        return total

    agrees(f, 3, 0)


def _add(value: Any) -> None:
    global TOTAL
    TOTAL = TOTAL + value


@item("silently wrong: helpers that change globals")
def test_helper_that_changes_a_global_in_a_tensor_loop() -> None:
    """TensorFlow: InaccessibleTensorError, the global is no loop variable."""

    def f(n: Any) -> Any:
        global TOTAL
        TOTAL = n * 0
        for i in tf.range(n):
            _add(i)
        result, TOTAL = TOTAL, 0
        return result

    agrees(f, 4, 0)


class Odd(Exception):
    """Needs two arguments: no wrapper can make another."""

    def __init__(self, text: str, more: Any) -> None:
        super().__init__(text)
        self.more = more


@item("raises: errors of tracing")
def test_error_whose_class_cannot_be_instantiated_again() -> None:
    """TensorFlow: StagingError. Here it is the object that was raised."""
    error = Odd("text", 1)

    def f(n: Any) -> Any:
        raise error

    with pytest.raises(Odd) as caught:
        tf.function(f)(tf.constant(1))
    assert caught.value is error


@tf.autograph.experimental.do_not_convert
def _unconverted(x: Any) -> Any:
    return tf.reshape(x, [7])


@item("raises: errors of tracing")
def test_stars_of_frames() -> None:
    """One star for converted frames, two for those that are reached and are not."""

    def f(x: Any) -> Any:
        return _unconverted(x)

    with pytest.raises(ValueError) as caught:
        tf.function(f)(tf.constant([1, 2]))
    lines = str(caught.value).splitlines()
    frames = [line.split(", in ")[1].split() for line in lines if ", in " in line]
    assert ["f", "*"] in frames
    assert ["_unconverted", "**"] in frames


# -- tools around functions -------------------------------------------------------------------


def stepped(x: Any) -> Any:
    """A loop to stop in."""
    total = x * 0
    for i in tf.range(x):
        if i > 1:
            total = total + i  # a breakpoint
    return total


def test_a_session_of_pdb() -> None:
    lines, first = inspect.getsourcelines(stepped)
    at = first + next(k for k, t in enumerate(lines) if "# a breakpoint" in t)
    said = io.StringIO()
    # What is traced again stops again.
    commands = ["continue", "where", "p type(total).__name__, type(i).__name__", "up"]
    commands += ["continue"] * 9
    debugger = pdb.Pdb(
        stdin=io.StringIO("\n".join(commands)), stdout=said, nosigint=True, readrc=False
    )
    assert debugger.set_break(__file__, at) is None
    try:
        result = debugger.runcall(tf.function(stepped), tf.constant(4))
    finally:
        debugger.clear_all_breaks()
    assert int(result) == 5
    told = said.getvalue()
    assert "total = total + i  # a breakpoint" in told
    assert f"{__file__}({at})stepped()" in told
    assert "('SymbolicTensor', 'SymbolicTensor')" in told


def documented(x: Any) -> Any:
    """The absolute value.

    >>> int(tf.function(documented)(tf.constant(-3)))
    3

    >>> def twice(x):
    ...     if x > 0:
    ...         return x * 2
    ...     return x
    >>> [int(tf.function(twice)(tf.constant(n))) for n in (2, -2)]
    [4, -2]
    """
    if x > 0:
        return x
    return -x


def test_doctest_runs_converted_functions() -> None:
    """The source of functions in an example is doctest's: linecache has it."""
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)
    (example,) = finder.find(documented, "documented", globs={"tf": tf, "documented": documented})
    assert runner.run(example) == (0, 3)


@item("left alone: async")
def test_async_functions_stay_python() -> None:
    """TensorFlow: Unknown node type, and the whole function runs as it is."""

    async def later(x: Any) -> Any:
        return x + 1

    def step(x: Any) -> Any:
        if x > 1:
            return x * 2
        return x

    traced = tf.function(step)

    async def main() -> list[int]:
        values = [await later(tf.constant(n)) for n in range(3)]
        return [int(traced(v)) for v in values]

    assert asyncio.run(main()) == [1, 4, 6]

    def runs_one(x: Any) -> Any:
        coroutine = later(x)
        try:
            coroutine.send(None)
        except StopIteration as e:
            x = e.value
        return x if x > 2 else -x

    agrees(runs_one, 0, 5)
