"""Containers, attributes and variables that staged blocks change as no graph can: reported where used."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .checklist import item
from .test_data_in_blocks import flat


class Thing:
    """Has attributes."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.kind = "old"

    def make(self, x: Any) -> None:
        self.made = x


def bump(counts: Any, key: Any) -> None:
    counts[key] = counts.get(key, 0) + 1


# What a helper does to `c`, a container made in the traced function, or to the object `o`.
CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "a new key": (lambda: {"a": 1}, lambda c, x: bump(c, "new")),
    "a new key with a tensor": (dict, lambda c, x: c.__setitem__("k", x)),
    "dict.pop": (lambda: {"a": 1}, lambda c, x: c.pop("a")),
    "dict.popitem": (lambda: {"a": 1}, lambda c, x: c.popitem()),
    "dict.clear": (lambda: {"a": 1}, lambda c, x: c.clear()),
    "dict.update": (lambda: {"a": 1}, lambda c, x: c.update(b=2)),
    "dict.setdefault": (dict, lambda c, x: c.setdefault("k", []).append(x)),
    "a text": (lambda: {"a": "one"}, lambda c, x: c.update(a="two")),
    "defaultdict": (lambda: collections.defaultdict(list), lambda c, x: c["k"].append(x)),
    "Counter.update": (collections.Counter, lambda c, x: c.update(["a"])),
    "OrderedDict.move_to_end": (
        lambda: collections.OrderedDict(a=1, b=2),
        lambda c, x: c.move_to_end("a"),
    ),
    "set.add": (set, lambda c, x: c.add(1)),
    "set.discard": (lambda: {1}, lambda c, x: c.discard(1)),
    "deque.append": (collections.deque, lambda c, x: c.append(x)),
    "bytearray.append": (bytearray, lambda c, x: c.append(1)),
    "list.append of a text": (list, lambda c, x: c.append("t")),
    "ndarray.fill": (lambda: np.zeros(2), lambda c, x: c.fill(1)),
    "np.copyto": (lambda: np.zeros(2), lambda c, x: np.copyto(c, 1)),
    "an attribute": (lambda: Thing(0), lambda c, x: c.make(x)),
    "setattr": (lambda: Thing(0), lambda c, x: setattr(c, "made", x)),
    "delattr": (lambda: Thing(0), lambda c, x: delattr(c, "x")),
    "vars": (lambda: Thing(0), lambda c, x: vars(c).update(made=1)),
    "an attribute with a text": (lambda: Thing(0), lambda c, x: setattr(c, "kind", "new")),
}


def look(c: Any) -> Any:
    """Uses whatever a change may have changed."""
    if isinstance(c, Thing):
        return c.x, len(c.kind), c.made
    return len(c), list(c), c


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("block", ["if", "else", "while", "for"])
def test_what_no_graph_can_carry_raises_where_it_is_used(name: str, block: str) -> None:
    make, change = CHANGES[name]

    def f(x: Any) -> Any:
        c = make()
        if block == "if":
            if x > 0:
                change(c, x)
        elif block == "else":
            if x > 0:
                x = x + 1
            else:
                change(c, x)
        elif block == "while":
            while x > 0:
                change(c, x)
                x = x - 1
        else:
            for _ in tf.range(x):
                change(c, x)
        return look(c)

    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)) as told:
        tf.function(f)(tf.constant(0))
    said = str(told.value)
    assert "line" in said or "must iterate at least once" in said
    assert "out of scope" not in said


@pytest.mark.parametrize("name", CHANGES)
def test_both_branches_may_change_it_alike(name: str) -> None:
    make, change = CHANGES[name]
    if name in ("dict.setdefault", "defaultdict", "deque.append"):
        pytest.skip("each branch has a tensor of its own")

    @tf.function
    def f(x: Any) -> Any:
        c = make()
        if x > 0:
            change(c, x)
        else:
            change(c, x)
        return x

    assert int(f(tf.constant(1))) == 1


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_unused_afterwards_is_no_error(name: str) -> None:
    make, change = CHANGES[name]

    @tf.function
    def f(x: Any) -> Any:
        c = make()
        if x > 0:
            change(c, x)
        return x

    assert int(f(tf.constant(1))) == 1


def test_the_graph_checks_items_that_a_loop_is_the_first_to_set() -> None:
    def counted(n: Any) -> Any:
        counts: dict[str, Any] = {}
        for i in tf.range(n):
            counts["k"] = counts.get("k", 0) + i
        return counts.get("k", -1), counts.setdefault("k", 5), counts.pop("k", 9)

    def by_a_helper(n: Any) -> Any:
        counts: dict[str, Any] = {}
        for _ in tf.range(n):
            bump(counts, "k")
        return counts.get("k", -1), n + 1 if "k" in counts else n - 1

    for function in (counted, by_a_helper):
        traced = tf.function(function)
        for n in (3, 1, 0):
            assert flat(traced(tf.constant(n))) == flat(function(tf.constant(n)))


def test_a_python_iterator_is_not_advanced_by_a_block() -> None:
    def f(x: Any) -> Any:
        numbers = iter([1, 2, 3])
        if x > 0:
            x = x + next(numbers)
        return x

    with pytest.raises(TypeError, match="an item of this list_iterator is taken"):
        tf.function(f)(tf.constant(1))


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two values."""

    first: Any
    second: Any


def test_objects_of_data_classes_are_state() -> None:
    """TensorFlow 2.21 (asked) cannot convert their elements to tensors, and fails."""

    def looped(x: Any) -> Any:
        p = Pair(x, 0)
        for _ in tf.range(3):
            p = Pair(p.first + 1, p.second + p.first)
        return p.first, p.second

    def chosen(x: Any) -> Any:
        p = Pair(x, x)
        if x > 1:
            p = Pair(p.first * 2, p.second)
        return p.first - p.second

    for function in (looped, chosen):
        for x in (3, 0):
            got, want = tf.function(function)(tf.constant(x)), function(tf.constant(x))
            assert flat(got) == flat(want)


@item("silently wrong: del")
def test_del_is_named_where_it_takes_a_value_away() -> None:
    def f(x: Any) -> Any:
        y = x
        if x > 0:
            del y
        return y

    with pytest.raises(ValueError, match="initialized in the main branch: `del y`"):
        tf.function(f)(tf.constant(1))


def test_names_of_a_body_are_set_by_an_if_inside_it() -> None:
    def f(n: Any) -> Any:
        total = n * 0
        for i in tf.range(n):
            if i > 1:
                z = i
            else:
                z = n
            total += z
        return total

    for n in (0, 4):
        assert int(tf.function(f)(tf.constant(n))) == int(f(tf.constant(n)))


def test_the_else_of_an_inner_loop_may_continue_the_outer_one() -> None:
    def f(n: Any) -> Any:
        turns = []
        while (k := len(turns)) < 3:
            turns.append(k)
            while (k := k + 1) < 2:
                n = n + k
            else:
                if n > 0:
                    continue
            n = n + 10
        return n

    for n in (1, -20):
        assert int(tf.function(f)(tf.constant(n))) == int(f(tf.constant(n)))


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_blocks_in_blocks_are_traced_once_for_each_level(depth: int) -> None:
    traces: list[int] = []

    @tf.autograph.experimental.do_not_convert
    def tick() -> None:
        traces.append(depth)

    def nest(x: Any, left: int, put: Any) -> Any:
        if left == 0:
            tick()
            put(x)
            return x
        for _ in tf.range(2):
            x = nest(x, left - 1, put)
        return x

    def f(x: Any) -> Any:
        y, items = x, []

        def put(v: Any) -> None:
            nonlocal y
            y = y + v
            items.append(v)

        nest(x, depth, put)
        return y, len(items)

    assert flat(tf.function(f)(tf.constant(1))) == flat([1 + 2**depth, 2**depth])
    assert len(traces) <= 2 * depth + 1
