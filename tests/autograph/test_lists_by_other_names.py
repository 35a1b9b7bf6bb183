"""Lists that grow in staged blocks, under every name that they have, and asked for their truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf

from .test_data_in_blocks import flat


class Box:
    def __init__(self, items: list[Any]) -> None:
        self.items = items


def two_names(n: Any) -> Any:
    a = b = []
    for i in tf.range(n):
        a.append(i)
    b.append(-1)
    for i in tf.range(2):
        a.append(i)
        b.append(i * 10)
    return a, b


def a_name_and_an_attribute(n: Any) -> Any:
    items = []
    box = Box(items)
    for i in tf.range(n):
        items.append(i)
    return tf.stack([0, *box.items]) if isinstance(n, int) else tf.size(box.items)


def a_name_and_an_item(n: Any) -> Any:
    items = []
    table = {"x": items}
    for i in tf.range(n):
        table["x"].append(i)
    return items


def two_items(n: Any) -> Any:
    items = []
    holder = [items, items]
    for i in tf.range(n):
        holder[0].append(i)
    holder[1].append(n)
    total = n
    for v in holder[1]:
        total += v
    return holder[1], total


def filled_by_a_loop(out: list[Any], n: Any) -> None:
    for i in tf.range(n):
        out.append(i)


def filled_by_a_branch(out: list[Any], n: Any) -> list[Any]:
    if n > 1:
        out.append(n)
    return out


def arguments(n: Any) -> Any:
    items, table = [], {"a": [n]}
    filled_by_a_loop(items, n)
    filled_by_a_loop(table["a"], n)
    filled_by_a_branch(items, n)
    filled_by_a_loop(table["a"], n)
    return items, table


def arguments_in_a_loop(n: Any) -> Any:
    items = []
    for i in tf.range(n):
        filled_by_a_branch(items, n)
        filled_by_a_loop(items, i)
    return items


def results_of_branches(n: Any) -> Any:
    items = [n]
    same = filled_by_a_branch(items, n)
    same.append(n * 2)
    return items, same


def list_made_in_the_body(n: Any) -> Any:
    total = n * 0
    for i in tf.range(n):
        parts = [i]
        filled_by_a_loop(parts, i + 1)
        total += tf.reduce_sum(tf.stack(parts))
    return total


def truth_in_expressions(n: Any) -> Any:
    items = []
    for i in tf.range(n):
        items.append(i)
    empty = not items
    assert items or empty
    return tf.stack(items) if items else tf.constant([-1]), empty, items and n > 1


def truth_in_statements(n: Any) -> Any:
    items, total = [n], n
    for i in tf.range(n):
        items.append(i)
        if not items:
            total -= 1
    while items:
        total += items.pop()
    if items:
        total *= 2
    return total


def given_away_while_it_grows(n: Any) -> Any:
    items = [n]
    for k in range(2):
        for i in tf.range(n):
            items.append(i)
            while len(items) < 4:
                items.append(i * 2)
            else:
                filled_by_a_branch(items, i)
        if len(items) > 5:
            break
        items.append(n + k)
    return items


PROGRAMS = [
    given_away_while_it_grows,
    two_names,
    a_name_and_an_attribute,
    a_name_and_an_item,
    two_items,
    arguments,
    arguments_in_a_loop,
    results_of_branches,
    list_made_in_the_body,
    truth_in_statements,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_traced_equals_eager(program: Callable[..., Any]) -> None:
    traced = tf.function(program)
    for n in (3, 0, 1):
        x = tf.constant(n)
        assert flat(traced(x)) == flat(program(x))
    assert traced.experimental_get_tracing_count() == 1


def test_values_of_or_and_and_have_one_structure() -> None:
    traced = tf.function(truth_in_expressions)
    with pytest.raises(TypeError, match="same nested structure"):
        traced(tf.constant(2))  # `items and n > 1` is a list or a bool


def test_a_name_that_gets_another_list() -> None:
    @tf.function
    def f(n: Any) -> Any:
        items = []
        same = items
        for i in tf.range(3):
            items.append(i)
        if n > 0:
            items = [n]
        else:
            items.append(n)
        return items, same

    assert flat(f(tf.constant(1))) == [1, 0, 1, 2]


def test_a_grown_list_that_grows_or_is_written_by_index() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        items = [x]
        for _ in tf.range(n):
            items.append(x)
        for _ in tf.range(n):
            if n == 1:
                items.append(x)
            else:
                items[0] = x
        return items

    assert len(f(tf.constant(0.5), tf.constant(1))) == 3
