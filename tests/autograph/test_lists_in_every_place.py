"""Lists that are written by every method, in every location that can hold one, at every depth."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf

from .test_data_in_blocks import flat


class Box:
    def __init__(self, items: Any, others: Any = None) -> None:
        self.items = items
        self.others = others


def put(items: list[Any], x: Any) -> list[Any]:
    items[0] = x
    return items


# -- writes, by the blocks around them --------------------------------------------------------

WRITES: dict[str, Callable[[list[Any], Any], Any]] = {
    "append": lambda w, x: w.append(x),
    "set": lambda w, x: put(w, x * 3.0),
    "set_from_the_end": lambda w, x: w.__setitem__(-1, x * 3.0),
    "pop": lambda w, x: w.pop(),
    "pop_the_first": lambda w, x: w.pop(0),
    "insert": lambda w, x: w.insert(1, x * 4.0),
    "extend": lambda w, x: w.extend([x, x]),
    "reverse": lambda w, x: w.reverse(),
}


def under_an_if(write: Any, w: Any, x: Any, n: Any) -> None:
    for i in tf.range(n):
        if i > 0:
            write(w, x)


def under_an_if_whose_other_branch_writes(write: Any, w: Any, x: Any, n: Any) -> None:
    for i in tf.range(n):
        if i > 0:
            write(w, x)
        else:
            w[0] = x * 0.5


def under_two_ifs(write: Any, w: Any, x: Any, n: Any) -> None:
    if n > 0:
        if n > 1:
            write(w, x)
    else:
        w[0] = x * 0.25


def under_two_loops(write: Any, w: Any, x: Any, n: Any) -> None:
    for i in tf.range(n):
        for j in tf.range(2):
            if i == j:
                write(w, x)


def with_a_cleanup(write: Any, w: Any, x: Any, n: Any) -> None:
    while n > 0:
        n -= 1
        try:
            if n > 0:
                write(w, x)
        finally:
            w[0] = w[0] + 1.0


NESTS = [
    under_an_if,
    under_an_if_whose_other_branch_writes,
    under_two_ifs,
    under_two_loops,
    with_a_cleanup,
]


@pytest.mark.parametrize("grown", [False, True], ids=["plain", "grown"])
@pytest.mark.parametrize("nest", NESTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", WRITES)
def test_writes_of_lists(name: str, nest: Callable[..., None], grown: bool) -> None:
    def program(x: Any, n: Any) -> Any:
        items = [x, x + 1.0, x + 2.0]
        same, table, box = items, {"k": [x, x * 2.0, x]}, Box([x, x - 1.0, x])
        pair = ([x, x * 0.5, x], x)
        for kept in (items, table["k"], box.items, pair[0]):
            if grown:
                for _ in tf.range(2):
                    kept.append(x * 0.125)
            nest(WRITES[name], kept, x, n)
        return items, same, table, box.items, pair

    traced = tf.function(program)
    for n in (2, 0, 1):
        x, count = tf.constant(0.5), tf.constant(n)
        assert flat(traced(x, count)) == flat(program(x, count))


# -- what is written where --------------------------------------------------------------------


def deleted_elements_of_items(x: Any, n: Any) -> Any:
    table, box = {"k": [x, x + 1.0]}, Box([x, x + 1.0, x])
    for i in tf.range(n):
        if i > 0:
            del table["k"][0]
        del box.items[0]
    return table, box.items


def added_to_in_place(x: Any, n: Any) -> Any:
    table, box = {"k": [x]}, Box([x])
    for i in tf.range(n):
        if i > 0:
            table["k"] += [x * 2.0]
            box.items *= 2
    return table, box.items


def added_to_in_a_function(x: Any, n: Any) -> Any:
    def grow(w: list[Any]) -> None:
        if n > 1:
            w += [x * 2.0]

    items, grown = [x], [x]
    for _ in tf.range(2):
        grown.append(x)
    grow(items)
    grow(grown)
    return items, grown


def an_attribute_in_a_closure(x: Any, n: Any) -> Any:
    box = Box([x, x + 1.0])

    def turn() -> None:
        box.items.reverse()
        box.items[0] = box.items[0] + 1.0

    for _ in tf.range(n):
        turn()
    return box.items


def an_element_from_the_end_of_a_list_that_grows(x: Any, n: Any) -> Any:
    table = {"k": [x, x * 0.5]}
    for _ in tf.range(n):
        table["k"].append(x)
        table["k"][-1] = x * 0.25
    return table


def an_element_that_is_taken_out_afterwards(x: Any, n: Any) -> Any:
    box = Box([x, x * 0.5, x])
    for _ in tf.range(n):
        box.items[-1] = x * 0.25
        box.items.pop()
    return box.items


def an_element_and_then_all(x: Any, n: Any) -> Any:
    items = [x, x + 1.0, x + 2.0]
    for _ in tf.range(n):
        items[0] = x * 0.5
        items.reverse()
    return items


def a_new_list_or_an_element(x: Any, n: Any) -> Any:
    box, grown = Box([x, x + 1.0]), Box([x])
    for _ in tf.range(2):
        grown.items.append(x)
    for i in tf.range(n):
        if i > 0:
            box.items = [x, x]
            grown.items = [*[x], x]
        else:
            box.items[0] = x * 0.5
            grown.items[0] = x * 0.5
    return box.items, grown.items


def asked_by_taking_elements(x: Any, n: Any) -> Any:
    items, plain, total = [x, x * 2.0, -x], [1, 2, 3], x
    while True:
        if items.pop() >= 1.0:
            break
        total += 1.0
        items.append(x)
        items.append(total)
    while plain.pop() > 1:
        total += 1.0
    return items, plain, total


def two_names_change_places(x: Any, n: Any) -> Any:
    now, then = [x, x + 1.0], [x * 2.0, x * 3.0]
    for _ in tf.range(n):
        then[0] = then[0] + now[1]
        now, then = then, now
    then[1] = now[0]
    return now, then


def two_lists_that_grow_change_places(x: Any, n: Any) -> Any:
    now, then = [x, x + 1.0], [x * 2.0]
    for i in tf.range(n):
        then.append(now[0])
        if i > 0:
            then[0] = now[-1] + 1.0
        now, then = then, now
    return now, then


def two_attributes_change_places(x: Any, n: Any) -> Any:
    box = Box([x, x + 1.0], [x * 2.0, x])
    for _ in tf.range(n):
        box.others[0] = box.items[0] + 1.0
        box.items, box.others = box.others, box.items
    return box.items, box.others


def three_names_take_turns(x: Any, n: Any) -> Any:
    a, b, c = [x], [x * 2.0], [x * 3.0]
    for _ in tf.range(n):
        a[0] = b[0] + 1.0
        a, b, c = b, c, a
    return a, b, c


def a_name_gets_what_another_has(x: Any, n: Any) -> Any:
    now, other = [x], [x * 2.0]
    for _ in tf.range(n):
        x = x + now[0] + other[0]
        other = [x]
        now = other
    return now, other, x


PROGRAMS = [
    deleted_elements_of_items,
    added_to_in_place,
    added_to_in_a_function,
    an_attribute_in_a_closure,
    an_element_from_the_end_of_a_list_that_grows,
    an_element_that_is_taken_out_afterwards,
    an_element_and_then_all,
    a_new_list_or_an_element,
    asked_by_taking_elements,
    two_names_change_places,
    two_lists_that_grow_change_places,
    two_attributes_change_places,
    three_names_take_turns,
    a_name_gets_what_another_has,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_traced_equals_eager(program: Callable[..., Any]) -> None:
    traced = tf.function(program)
    for n in (2, 0, 1):
        x, count = tf.constant(0.5), tf.constant(n)
        assert flat(traced(x, count)) == flat(program(x, count))
    assert traced.experimental_get_tracing_count() == 1


def test_names_that_are_swapped_and_have_a_third_name() -> None:
    @tf.function
    def written(x: Any, n: Any) -> Any:
        now, then = [x], [x * 2.0]
        first = now
        for _ in tf.range(n):
            then[0] = now[0] + 1.0
            now, then = then, now
        return first[0]

    @tf.function
    def grown(x: Any, n: Any) -> Any:
        items = [x]
        same = items
        for _ in tf.range(2):
            items.append(x)
        for i in tf.range(n):
            if i > 0:
                items = items + [x]  # noqa: RUF005
        for _ in tf.range(2):
            items[0] = x * 2.0
        return same[0]

    for f in (written, grown):
        with pytest.raises(TypeError, match="may be the one that was changed"):
            f(tf.constant(1.0), tf.constant(3))


def test_elements_that_are_not_there_fail_when_the_graph_runs() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        items = [x]
        for _ in tf.range(n):
            items.pop(0)
        return items

    assert flat(f(tf.constant(1.0), tf.constant(1))) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="has no element"):
        f(tf.constant(1.0), tf.constant(2))


def test_a_condition_that_changes_a_list_is_reported() -> None:
    @tf.function
    def f(x: Any) -> Any:
        items = [x, x * 2.0, -x]
        while items.pop() < 1.0:
            items.append(x + 1.0)
        return items

    with pytest.raises(NotImplementedError, match="The condition of this `while` changes"):
        f(tf.constant(0.5))


def test_a_condition_of_python_is_evaluated_once() -> None:
    asked = itertools.count()

    @tf.function
    def f(x: Any) -> Any:
        while next(asked) < 2:
            x = x + 1.0
        return x

    assert float(f(tf.constant(0.0))) == 2.0
    assert next(asked) == 3


def test_a_list_that_grows_and_is_returned_from_a_try() -> None:
    def counted(x: Any, n: Any) -> Any:
        table, pair = {"k": [x, x * 0.5]}, [x, x + 1.0]
        while n < 4 and len(table["k"]) < 4:
            n += 1
            table["k"].append(x)
            if len(table["k"]) > 2:
                table["k"][-1] = x * 0.5
            try:
                if x > 0.5:
                    break
                if x < -1.0:
                    return x, table, pair
                pair[:1] = [tf.cast(n, tf.float32), x]
            finally:
                x = x + 1.0
        return x, table, pair

    traced = tf.function(counted)
    for x, n in [(0.5, 0), (-1.0, 1), (-1.0, 2), (-2.0, 0), (2.0, 0)]:
        arguments = tf.constant(x), tf.constant(n)
        assert flat(traced(*arguments)) == flat(counted(*arguments))


def test_a_python_iteration_that_returns_a_list_before_it_grows_is_reported() -> None:
    @tf.function
    def f(x: Any) -> Any:
        items = [x]
        while len(items) < 4:  # a number of Python until the first `return` may be reached
            items.append(x)
            try:
                if x < -1.0:
                    return items
                items[0] = x * 0.5
            finally:
                x = x + 1.0
        return items

    with pytest.raises(TypeError, match="all of them return the same structure"):
        f(tf.constant(0.5))
