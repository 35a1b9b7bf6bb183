"""Containers that a staged block puts into a name, and that have other names: right, or reported."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf

from .test_data_in_blocks import flat


@dataclasses.dataclass
class Pair:
    """Two values."""

    first: Any
    second: Any


def agrees(function: Callable[..., Any], *values: int) -> None:
    """Traced, the function gives what it gives eagerly."""
    traced = tf.function(function)
    for n in values:
        assert flat(traced(tf.constant(n))) == flat(function(tf.constant(n)))


# -- what is not changed afterwards, or has no other name, is right ---------------------------


def only_read(n: Any) -> Any:
    d = {"a": n}
    e = d
    if n > 0:
        d = {"a": n + 5}
    return d["a"], e["a"]


def one_name(n: Any) -> Any:
    d = {"a": n, "l": [n]}
    for i in tf.range(n):
        d = {"a": d["a"] + i, "l": [d["l"][0] + 1]}
        if i > 1:
            d["a"] = d["a"] * 2
    d["a"] += 1
    d["l"][0] += 5
    return d["a"], d["l"][0]


def two_names_take_turns(n: Any) -> Any:
    now, then = {"a": n}, {"a": n + 1}
    for _ in tf.range(n):
        then["a"] = now["a"] + then["a"]
        now, then = then, now
    return now, then


def changed_before_it_is_left(n: Any) -> Any:
    d = {"a": n}
    e = d
    if n > 0:
        e["a"] = n * 2
        d = {"a": n + 5}
        d["a"] = d["a"] + 1
    return e["a"], d["a"]


def items_and_names_in_nested_blocks(n: Any) -> Any:
    s = {"h": n}
    if n > 0:
        s["h"] = s["h"] + 1
        if n > 1:
            s = {"h": n * 5}
            s["h"] += 2
        s["h"] += 1
    s["h"] += 1
    while s["h"] < 10:
        s["h"] = s["h"] + 1
        s = dict(s)
        s["h"] = s["h"] + 1
    return s


def a_copy_is_changed(n: Any) -> Any:
    d = [n, n]
    e = d
    if n > 0:
        d = [n + 1, n]
    d = list(d)
    d[0] = d[0] * 10
    return d[0], e[0]


@pytest.mark.parametrize(
    "program",
    [
        only_read,
        one_name,
        two_names_take_turns,
        changed_before_it_is_left,
        items_and_names_in_nested_blocks,
        a_copy_is_changed,
    ],
    ids=lambda p: p.__name__,
)
def test_traced_equals_eager(program: Callable[..., Any]) -> None:
    agrees(program, 3, 0, 1)


# -- what is decided at run time is reported --------------------------------------------------


def the_name_is_changed(n: Any) -> Any:
    d = {"a": n}
    e = d
    if n > 0:
        d = {"a": n + 5}
    d["a"] = d["a"] + 1
    return e["a"]


def the_other_name_is_changed(n: Any) -> Any:
    d = [n]
    e = d
    if n > 0:
        d = [n + 5]
    e.append(n)
    return d


def in_a_loop(n: Any) -> Any:
    d = {"a": n}
    e = d
    for i in tf.range(n):
        d = {"a": d["a"] + i}
    e["a"] = e["a"] + 100
    return d


def in_the_turns_of_a_loop(n: Any) -> Any:
    d = {"a": n}
    e = d
    for i in tf.range(n):
        d["a"] = d["a"] + i
        if i > 1:
            d = {"a": n}
    return e


def in_another_container(n: Any) -> Any:
    d = [n]
    held = [d]
    if n > 0:
        d = [n + 5]
    d[0] += 1
    return held[0][0]


def an_inner_one(n: Any) -> Any:
    inner = [n]
    d = {"l": inner}
    if n > 0:
        d = {"l": [n + 1]}
    d["l"][0] = n * 2
    return inner


def by_a_method(n: Any) -> Any:
    d = {"a": n}
    e = d
    while n > 0:
        d = {"a": n}
        n = n - 1
    d.update(a=7)
    return e["a"]


def by_a_helper(n: Any) -> Any:
    def put(where: Any, value: Any) -> None:
        where["a"] = value

    d = {"a": n}
    e = d
    if n > 0:
        d = {"a": n + 5}
    put(d, n)
    return e["a"]


def an_object(n: Any) -> Any:
    d = Pair(n, n)
    e = d
    if n > 0:
        d = Pair(n + 5, n)
    d.first = n * 10
    return e.first


def one_of_two(n: Any) -> Any:
    a, b = [n], [n + 1]
    c = a
    if n > 0:
        c = b
    c[0] = c[0] + 100
    return b[0]


def in_a_later_block(n: Any) -> Any:
    d = {"a": n}
    e = d
    if n > 0:
        d = {"a": n + 5}
    if n > 1:
        d["a"] = n * 2
    return e["a"]


def in_the_other_branch(n: Any) -> Any:
    d = {"a": n}
    e = d
    if n > 0:
        d = {"a": n + 5}
    else:
        e["a"] = n - 7
    return d["a"]


@pytest.mark.parametrize(
    "program",
    [
        the_name_is_changed,
        the_other_name_is_changed,
        in_a_loop,
        in_the_turns_of_a_loop,
        in_another_container,
        an_inner_one,
        by_a_method,
        by_a_helper,
        an_object,
        one_of_two,
        in_a_later_block,
        in_the_other_branch,
    ],
    ids=lambda p: p.__name__,
)
def test_what_may_have_been_changed_is_reported(program: Callable[..., Any]) -> None:
    """TensorFlow 2.21 (asked) gives what the trace leaves, right for some values only."""
    with pytest.raises(TypeError, match="may be the one that was changed under another"):
        tf.function(program)(tf.constant(0))


def test_is_raises_where_it_is_decided_at_run_time() -> None:
    def asked(n: Any) -> Any:
        d = {"a": n}
        e, other = d, {"a": n}
        if n > 0:
            d = {"a": n + 5}
        return n if d is other else -n, d is e

    def known(n: Any) -> Any:
        d, other = {"a": n}, {"a": n}
        e = other
        if n > 0:
            d = {"a": n + 5}
        return n if d is other else -n, 1 if e is other else 2, 1 if d is not e else 2

    agrees(known, 3, 0)
    with pytest.raises(TypeError, match="`is` asks whether two names have the same"):
        tf.function(asked)(tf.constant(0))


def test_the_next_trace_decides_what_one_cannot() -> None:
    kept = {"a": 1}

    @tf.function
    def f(n: Any, flag: bool) -> Any:
        d = kept
        if n > 0:
            d = {"a": 5}
        if flag:
            d["a"] = 7
        return kept["a"] + n

    with pytest.raises(TypeError, match="may be the one that was changed"):
        f(tf.constant(0), True)
    assert int(f(tf.constant(0), False)) == 1
    assert kept == {"a": 1}
