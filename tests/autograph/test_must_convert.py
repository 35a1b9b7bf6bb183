"""What AutoGraph must convert: each test is one promise of its reference, eager = traced."""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .checklist import item

Point = collections.namedtuple("Point", "x y")
COUNTER = 0


def agree(function: Callable[..., Any], *calls: Any) -> None:
    """Traced, the function gives for each call what it gives eagerly."""
    traced = tf.function(function)
    for call in calls:
        arguments = call if isinstance(call, tuple) else (call,)
        want = function(*[tf.constant(a) for a in arguments])
        got = traced(*[tf.constant(a) for a in arguments])
        tf.nest.assert_same_structure(want, got)
        for w, g in zip(tf.nest.flatten(want), tf.nest.flatten(got), strict=True):
            np.testing.assert_array_equal(np.asarray(w), np.asarray(g))
    assert traced.experimental_get_tracing_count() == 1


@item("converts: only tensors are staged")
def test_only_tensors_are_staged() -> None:
    seen = []

    def f(x: Any, flag: bool) -> Any:
        seen.append("traced")
        if flag and not []:
            x = x + 1
        while len(seen) < 3:
            seen.append("python")
        return x if flag or None else -x

    traced = tf.function(f)
    assert traced(tf.constant(1), True).numpy() == 2
    assert seen == ["traced", "python", "python"]
    assert traced(tf.constant(1), False).numpy() == -1


@pytest.mark.filterwarnings("ignore:.*while the staged:UserWarning")
@item("converts: if becomes cond")
def test_both_branches_are_traced_once() -> None:
    seen = []

    def f(x: Any) -> Any:
        if x > 0:
            seen.append("main")
            y = x
        else:
            seen.append("else")
            y = -x
        return y

    traced = tf.function(f)
    assert [traced(tf.constant(v)).numpy() for v in (3, -4, 5)] == [3, 4, 5]
    assert seen == ["main", "else"]


@item("converts: if becomes cond")
def test_shapes_of_branches_may_differ() -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = tf.zeros([2]) if x > 0 else tf.zeros([3])
        assert y.shape == [None]
        return y

    assert f(tf.constant(1)).shape == [2] and f(tf.constant(-1)).shape == [3]


@item("converts: names of one branch only")
def test_a_name_that_only_a_branch_needs() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            inner = x * 2
            x = inner + 1
        return x

    agree(f, 3, -3)


@item("converts: chains of elif and return")
def test_return_chains() -> None:
    def f(x: Any) -> Any:
        if x > 10:
            return x
        if x > 5:
            if x > 7:
                return x * 2
            return x * 3
        if x > 2:
            y = x - 1
            return y * y
        return x + 100

    agree(f, 20, 9, 6, 4, 1)


@item("converts: the test of a while is traced once to choose")
@pytest.mark.filterwarnings("ignore:.*an item of this count is taken:UserWarning")
def test_the_test_of_a_while_is_evaluated_once_to_choose() -> None:
    times = itertools.count()

    def test(n: Any) -> Any:
        next(times)
        return n < 3

    @tf.function
    def f(n: Any) -> Any:
        while test(n):
            n += 1
        return n

    assert f(tf.constant(0)).numpy() == 3
    assert next(times) == 2  # once to choose, once in the loop's condition


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_for_over_tensors_and_ranges() -> None:
    def f(x: Any, n: Any) -> Any:
        total = tf.zeros([2])
        for row in x:
            total += row
            for i in tf.range(n):
                total += tf.cast(i, tf.float32)
        for i in tf.range(5, n, -2):
            total *= tf.cast(i, tf.float32)
        return total

    agree(f, ([[1.0, 2.0], [3.0, 4.0]], 3), ([[1.0, 2.0], [3.0, 4.0]], 0))


@item("converts: break, continue, nested loops, the loop variable after")
def test_break_continue_nested_and_the_loop_variable_after() -> None:
    def f(n: Any) -> Any:
        total, i, j = tf.constant(0), tf.constant(-1), tf.constant(-1)
        for i in tf.range(n):
            if i % 2 == 0:
                continue
            for j in tf.range(i):
                if j > 2:
                    break
                total += j
            if total > 8:
                break
        return total, i, j

    agree(f, 0, 3, 10)


@item("converts: names first set in a loop, or None before it")
def test_names_first_set_in_a_loop() -> None:
    def f(n: Any) -> Any:
        best = None
        for i in tf.range(n):
            last = i * 2
            if best is None or i > best:
                best = i
        while n > 0:
            n -= 1
            half = n / 2
        return last, best, half

    agree(f, 3, 5)


@item("converts: return in a loop")
def test_return_in_both_branches_in_a_loop() -> None:
    def both(n: Any) -> Any:
        for i in tf.range(n):
            if i > 1:
                return i
            return i + 10
        return tf.constant(-1)

    def unconditional(n: Any) -> Any:
        for i in tf.range(n):
            return i + 5
        return tf.constant(-1)

    agree(both, 3)
    agree(unconditional, 2)


class Cell:
    def __init__(self) -> None:
        self.x = tf.constant(0)


@item("converts: attributes, items and keys as state")
def test_attributes_items_and_keys_are_state() -> None:
    def f(n: Any) -> Any:
        cell, items, table = Cell(), [tf.constant(1), 2], {"k": tf.constant(2)}
        for i in tf.range(n):
            cell.x += i
            items[0] = items[0] * 2
            table["k"] = table["k"] + cell.x
        if n > 2:
            cell.x, table["new"] = cell.x + 100, n
        else:
            table["new"] = -n
        return cell.x, items[0], table["k"], table["new"]

    agree(f, 2, 4)


def test_methods_change_their_object() -> None:
    class Counter:
        def __init__(self) -> None:
            self.total = tf.constant(0)

        @tf.function
        def add(self, n: Any) -> Any:
            kept, self.total = self.total, self.total
            for i in tf.range(n):
                self.total = self.total + i
            result, self.total = self.total, kept
            return result

    assert Counter().add(tf.constant(4)).numpy() == 6


@item("converts: globals and swaps")
def test_a_global_in_a_loop() -> None:
    def f(n: Any) -> Any:
        global COUNTER
        COUNTER = tf.constant(0)
        while n > COUNTER:
            COUNTER = COUNTER + 2
        result, COUNTER = COUNTER, 0
        return result

    agree(f, 5, 0)


@item("converts: globals and swaps")
def test_swaps() -> None:
    def f(n: Any) -> Any:
        a, b = tf.constant(0), tf.constant(1)
        for _ in tf.range(n):
            a, b = b, a + b
        return a, b

    agree(f, 0, 1, 10)


@item("converts: structures as loop variables")
def test_structures_are_loop_variables() -> None:
    def f(n: Any) -> Any:
        pair, named, table = (n, [n]), Point(n, n + 1), {"a": n, "b": (n, n)}
        while n > 0:
            n -= 1
            pair = (pair[0] + 1, [pair[1][0] * 2])
            named = Point(named.y, named.x)
            table = {"a": table["a"] + n, "b": (table["b"][1], n)}
        return pair, named, table

    agree(f, 0, 3)


@item("converts: lazy logic and chains")
def test_and_or_not_and_chains_are_lazy() -> None:
    def f(x: Any, n: Any) -> Any:
        m = None
        if n < 3 and x[n] > 0:
            n += 10
        if not (n >= 3 or x[n] > 0):
            n += 100
        if m is not None and m > 0:
            n += 1000
        if 0 < n < 20:
            n = -n
        return n

    agree(f, ([1, -1, 1], 0), ([1, -1, 1], 1), ([1, -1, 1], 7))


@item("converts: builtins on tensors")
def test_builtins_on_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any, n: Any) -> Any:
        total = len(x) + int(n) + int(float(n) * 1.5) + abs(-n)
        for i in range(n):
            total += i
        return total, sorted(x), float(n), int(tf.cast(n, tf.int64))

    traced = tf.function(f)
    total, ordered, as_float, as_int = traced(tf.constant([3, 1, 2]), tf.constant(4))
    assert total.numpy() == 3 + 4 + 6 + 4 + 6
    assert ordered.numpy().tolist() == [1, 2, 3]
    assert (as_float.dtype, as_int.dtype) == (tf.float32, tf.int32)

    @tf.function
    def shout(x: Any) -> None:
        print("value", x)

    shout(tf.constant(3))
    assert capsys.readouterr().out == 'value Tensor("x:0", shape=(), dtype=int32)\n'


def _step(x: Any) -> Any:
    if x > 0:
        return x - 1
    return x + 1


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        result = function(*args)
        if result > 5:
            result = result - 5
        return result * 2

    return wrapper


@doubled
def decorated(x: Any) -> Any:
    return x + 1 if x > 2 else x


class Base:
    def __init__(self, x: Any) -> None:
        if x > 0:
            self.kept = x
        else:
            self.kept = -x

    def grow(self, y: Any) -> Any:
        return y + 1 if y > self.kept else y


class Derived(Base):
    def grow(self, y: Any) -> Any:
        grown = super().grow(y)
        return grown * 2 if grown > 3 else grown

    def __call__(self, y: Any) -> Any:
        while y < 10:
            y += self.kept
        return y


def _scaled(x: Any, by: Any) -> Any:
    return x * by if x > 1 else x


@item("converts: callees")
def test_what_is_called_is_converted() -> None:
    def f(x: Any) -> Any:
        def nested(y: Any) -> Any:
            return y if y > x else y * 3

        class Local:
            def __call__(self, y: Any) -> Any:
                return y + 7 if y > 1 else y

        thing = Derived(x)
        half = functools.partial(_scaled, by=5)
        pick = lambda y: y * 2 if y > 0 else y  # noqa: E731
        return (
            _step(x),
            decorated(x),
            nested(x),
            thing.grow(x),
            thing(x),
            half(x),
            pick(x),
            Local()(x),
            (lambda: pick(x))(),
        )

    agree(f, 4, 1, -3)


def test_generators_run_as_python() -> None:
    def rows() -> Any:
        yield from (1, 2, 3)

    def f(x: Any) -> Any:
        for k in rows():
            x = x + k if x > k else x
        return x

    agree(f, 2, 0)


@item("converts: with, try and tapes")
def test_with_try_and_tapes() -> None:
    def f(x: Any) -> Any:
        try:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
                if y > 4.0:
                    y = y * x
                for _ in tf.range(2):
                    y = y * 0.5
        finally:
            z = x
        return tape.gradient(y, x), z

    agree(f, 3.0, 1.0)


@item("converts: loop options")
def test_loop_options() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = tf.constant([0])
        turns = tf.constant(0)
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))],
                parallel_iterations=4,
                swap_memory=True,
            )
            x = tf.concat([x, [i]], 0)
        while turns < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            turns += 1
        return x, turns

    x, turns = f(tf.constant(4))
    assert x.numpy().tolist() == [0, 0, 1, 2, 3] and turns.numpy() == 2


@item("converts: the tools")
def test_the_tools() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            x = -x
        return x

    assert "if_stmt" in tf.autograph.to_code(f)
    with tf.Graph().as_default():
        assert tf.autograph.to_graph(f)(tf.constant(2)).op.type == "Identity"
    tf.autograph.set_verbosity(0)
    tf.autograph.trace(1)
    assert tf.autograph.experimental.Feature.LISTS.name == "LISTS"

    @tf.autograph.experimental.do_not_convert
    def plain(x: Any) -> Any:
        return 1 if x is not None else 0

    assert tf.function(plain)(tf.constant(2)).numpy() == 1


@item("converts: two lambdas of one signature")
def test_two_lambdas_with_one_signature() -> None:
    def f(x: Any) -> Any:
        one, two = (lambda y: y + 1 if y > 0 else y), (lambda y: y * 5 if y > 0 else y)
        return one(x), two(x)

    agree(f, 3, -3)


@item("converts: the cache, and sources of converted code")
def test_the_source_of_converted_code_can_be_read() -> None:
    assert "def _step" in inspect.getsource(tf.autograph.to_graph(_step))
    first, again = tf.autograph.to_graph(_step), tf.autograph.to_graph(_step)
    assert first.__code__ is again.__code__
