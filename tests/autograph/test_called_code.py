"""What converted code calls is converted too, whatever kind of callable it is.

TensorFlow was asked for every value. Where it runs a callable as it is, the line says so.
"""

from __future__ import annotations

import functools
import inspect
import pdb
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .checklist import item
from .test_must_convert import agree


def halved(x: Any) -> Any:
    if x > 0:
        return x // 2
    return x


class Base:
    made: Any = None

    def __init__(self, k: Any) -> None:
        if k > 0:
            self.k = k
        else:
            self.k = -k

    def __call__(self, y: Any) -> Any:
        if y > 0:
            return y
        return self.k

    def above(self, y: Any) -> Any:
        return y + 1 if y > self.k else y

    @property
    def size(self) -> Any:
        return self.k if abs(self.k) > 2 else self.k - 10

    @classmethod
    def of_class(cls, y: Any) -> Any:
        assert issubclass(cls, Base)
        return y if y > 0 else -y

    @staticmethod
    def of_nobody(y: Any) -> Any:
        return y * 2 if y > 0 else -y


class Derived(Base):
    def above(self, y: Any) -> Any:
        grown = super().above(y)
        return grown if grown > 3 else grown * 2


class Last(Derived):
    def above(self, y: Any) -> Any:
        grown = super(Last, self).above(y)  # noqa: UP008
        return grown if grown > 5 else grown * 3

    @classmethod
    def of_class(cls, y: Any) -> Any:
        inherited = super().of_class(y)
        return inherited if inherited > 2 else inherited * 5


@item("converts: callees")
def test_methods_and_super() -> None:
    def f(x: Any) -> Any:
        one = Last(x)
        return one.above(x), one.above(x + 3), Last.of_class(x), one.of_class(-x)

    agree(f, 1, 4, -2)


def test_static_methods_and_objects_that_are_called() -> None:
    agree(lambda x: (Base.of_nobody(x), Base(x)(x), Base(x).of_nobody(-x)), 1, 4, -2)


def test_constructors() -> None:
    agree(lambda x: Derived(x).k, 3, -3)


@item("converts: callees")
def test_properties() -> None:
    """TensorFlow does not convert them, and fails where a tensor decides."""
    agree(lambda x: Base(x).size + Last(x + 1).size, 1, 4, -3)
    assert int(tf.function(lambda x: x + Base(1).size)(tf.constant(1))) == -8


def test_partials() -> None:
    def scaled(x: Any, y: Any, *, by: int = 1) -> Any:
        if x > y:
            return x * by
        return y

    def f(x: Any) -> Any:
        once = functools.partial(scaled, 3, by=2)
        twice = functools.partial(functools.partial(scaled, by=5), 1)
        method = functools.partial(Base(x).above, x + 1)
        return once(x), twice(x), twice(x, by=7), method()

    agree(f, 1, 9, -2)


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        result = function(*args)
        if result > 1:
            return result
        return -result

    return wrapper


def with_argument(by: int) -> Callable[..., Any]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(x: Any) -> Any:
            return function(x) * by if x > 0 else function(x)

        return wrapper

    return decorate


@logged
@with_argument(3)
def decorated(x: Any) -> Any:
    if x > 0:
        return x + 1
    return x


def test_decorated_functions() -> None:
    agree(lambda x: decorated(x), 2, -2)
    agree(decorated, 2, -2)


def test_lambdas_with_defaults_and_stars() -> None:
    def f(x: Any) -> Any:
        pick = lambda y, k=3, *rest, last=1, **more: (  # noqa: E731
            y * last if y > k else k + len(rest) + len(more)
        )
        return pick(x), pick(x, 1), pick(x, 1, 2, 3, last=4, other=5), pick(*[x, 2])

    agree(f, 2, 9)


def test_nested_functions_and_classes() -> None:
    def f(x: Any) -> Any:
        class Inner:
            scale = 3

            def __call__(self, y: Any) -> Any:
                if y > 0:
                    return y * self.scale
                return -y

            def twice(self, y: Any) -> Any:
                def again(z: Any) -> Any:
                    return self(self(z)) if z > 1 else self(z)

                return again(y)

        def local(y: Any, inner: Any = Inner()) -> Any:  # noqa: B008
            return inner(y) if y > x else inner.twice(y)

        return local(x), local(x + 1), Inner()(x)

    agree(f, 3, -3)


def test_a_nonlocal_of_a_nested_function() -> None:
    def f(x: Any) -> Any:
        kept = 0

        def keep(y: Any) -> None:
            nonlocal kept
            if y > 0:
                kept = y
            else:
                kept = -y

        keep(x)
        return kept

    agree(f, 2, -2)


def test_recursion_on_python_numbers() -> None:
    def factorial(n: int) -> int:
        return 1 if n <= 1 else n * factorial(n - 1)

    agree(lambda x: x * factorial(5), 2)


def test_traced_functions_inside() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return x if x > 0 else -x

    agree(lambda x: inner(x) + inner(-x), 2, -2)


def test_functions_as_arguments_of_library_functions() -> None:
    def f(x: Any) -> Any:
        rows = tf.map_fn(lambda v: v * 2 if v > 1 else v, x)
        chosen = tf.cond(x[0] > 1, lambda: x[1] if x[1] > 0 else x[0], lambda: x[0])
        return rows, chosen

    agree(f, [3, 2], [1, 5])


@item("converts: callees")
def test_generators_are_called_as_they_are() -> None:
    def pairs(n: int) -> Iterator[int]:
        for i in range(n):
            yield i
            yield -i

    def f(x: Any) -> Any:
        for k in pairs(3):
            if x > k:
                x = x + k
        return x

    agree(f, 1, 5)


def test_a_generator_cannot_decide_on_a_tensor() -> None:
    def some(x: Any) -> Iterator[Any]:
        if x > 0:
            yield x

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: list(some(x)))(tf.constant(1))


def test_coroutines_are_called_as_they_are() -> None:
    async def later(x: Any) -> Any:
        return x + 1

    @tf.function
    def f(x: Any) -> Any:
        coroutine = later(x)
        try:
            coroutine.send(None)
        except StopIteration as e:
            return e.value * 2

    assert int(f(tf.constant(1))) == 4


class Counter:
    """Its protocol methods look at the frame that they are called from: it is their own."""

    def __init__(self) -> None:
        self.left = 2
        self.seen: list[str] = []

    def note(self) -> None:
        self.seen.append(sys._getframe(1).f_code.co_name)

    def __iter__(self) -> Counter:
        self.note()
        return self

    def __next__(self) -> int:
        self.note()
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.left

    def __enter__(self) -> Counter:
        self.note()
        return self

    def __exit__(self, *error: object) -> None:
        self.note()


@item("converts: callees")
def test_protocol_methods_are_called_by_python() -> None:
    counter = Counter()

    def f(x: Any) -> Any:
        with counter as entered:
            for k in entered:
                x = x + k
        return x

    assert int(tf.function(f)(tf.constant(1))) == 2
    wanted = ["__enter__", "__iter__", "__next__", "__next__", "__next__", "__exit__"]
    assert counter.seen == wanted


@item("converts: callees")
def test_libraries_and_native_functions_are_called_as_they_are() -> None:
    @tf.function
    def f(x: Any) -> Any:
        table = dict(zip("ab", np.arange(2), strict=True))
        text = "-".join(map(str, sorted(table)))
        assert isinstance(np.mean([1, 3]), np.floating)
        return x + len(text) + int(np.sum([1, 2])) + getattr(table, "get")("b")  # noqa: B009

    assert int(f(tf.constant(1))) == 1 + 3 + 3 + 1


@item("converts: callees")
def test_the_debugger_is_called_from_the_users_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[tuple[str, int, Any]] = []

    def note() -> None:
        frame = sys._getframe(1)
        stops.append((frame.f_code.co_name, frame.f_lineno, frame.f_locals["x"]))

    monkeypatch.setattr(pdb, "set_trace", note)
    monkeypatch.setattr(sys, "breakpointhook", note)

    def f(x: Any) -> Any:
        pdb.set_trace()
        if x > 0:
            x = x + 1
            breakpoint()
        return x

    tf.autograph.to_graph(f)(3)
    first = inspect.getsourcelines(f)[1]
    assert stops == [("f", first + 1, 3), ("f", first + 4, 4)]


def test_private_names() -> None:
    """TensorFlow runs these as they are, and fails where a tensor decides."""

    class Hidden:
        def __init__(self) -> None:
            self.__limit = 3

        def __above(self, x: Any) -> Any:
            return x if x > self.__limit else self.__limit

        def run(self, x: Any) -> Any:
            __local = self.__above(x)
            return __local + 1 if __local > 3 else __local

    agree(lambda x: Hidden().run(x), 1, 5)


def test_functions_kept_from_conversion() -> None:
    @tf.autograph.experimental.do_not_convert
    def bare(x: Any) -> Any:
        return 1 if x > 0 else 2

    @tf.autograph.experimental.do_not_convert()
    def called(x: Any) -> Any:
        return 1 if x is None else 2

    assert int(tf.function(lambda x: called(x))(tf.constant(1))) == 2
    assert called.__name__ == "called"
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: bare(x))(tf.constant(1))
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(halved, autograph=False)(tf.constant(1))


def _doubled_above_zero(v):
    if v > 0:
        return v * 2.0
    return -v


def _summed_above_zero(total, v):
    if v > 0:
        return total + v
    return total


def test_the_function_of_map_fn_is_converted_and_of_scan_it_is_not():
    """As TensorFlow 2.21, asked, does: it converts for map_fn alone."""
    x = tf.constant([1.0, -2.0, 3.0])
    for call in (
        lambda x: tf.map_fn(_doubled_above_zero, x),
        lambda x: tf.map_fn(elems=x, fn=_doubled_above_zero),
    ):
        np.testing.assert_array_equal(tf.function(call)(x), [2.0, 2.0, 6.0])
    with pytest.raises(TypeError, match="as a Python `bool`"):
        tf.function(lambda x: tf.scan(_summed_above_zero, x))(x)


@item("silently wrong: py_function")
def test_writes_of_py_functions_are_seen_by_later_reads():
    """TensorFlow 2.21's documentation warns that traced reads may not see them."""
    variable = tf.Variable(1)

    def bump():
        variable.assign_add(1)
        return variable.numpy()

    @tf.function
    def f():
        before = variable + 0
        return before, tf.py_function(bump, [], tf.int32), variable + 0

    assert [int(v) for v in f()] == [1, 2, 2]
