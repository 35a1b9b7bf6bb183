"""Lists that grow, and state written out of sight, in staged loops and branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import strict, tf
from intaglio.base.errors import InaccessibleTensorError

TOTAL: Any = None
OUTSIDE: list[Any] = []


def flat(value: Any) -> list[Any]:
    return [np.asarray(v).tolist() for v in tf.nest.flatten(value)]


class Box:
    array: Any
    found: Any

    def __init__(self) -> None:
        self.value = tf.constant(0)
        self.count = 0
        self.kept: list[Any] = []

    def add(self, x: Any) -> None:
        self.value = self.value + x
        self.count += 1

    def keep(self, x: Any) -> None:
        self.kept.append(x)

    def add_if(self, x: Any) -> None:
        if x > 1:
            self.value += x
            self.kept.append(x)
        else:
            self.count += 2


def append_to(items: list[Any], x: Any) -> None:
    items.append(x)


def add_to_total(x: Any) -> None:
    global TOTAL
    TOTAL = TOTAL + x


def appended(n: Any) -> Any:
    items = []
    for i in tf.range(n):
        items.append(i * 2)
    return items, len(items)


def of_pairs(n: Any) -> Any:
    items = []
    for i in tf.range(n):
        if i % 2 == 0:
            items.append((i, tf.cast(i, tf.float32)))
    return items


def of_python_numbers(n: Any) -> Any:
    items = [1]
    while n > 0:
        items.append(7)
        n -= 1
    return items


def changed_in_every_way(n: Any) -> Any:
    items = [n]
    for i in tf.range(n):
        items.extend([i, i * 2])
        items += [i]
        items.insert(1, n)
        items[0] = i - 1
        if i > 1:
            items.pop()
    items.pop(0)
    last = items.pop()
    items.append(last + items[-1])
    return items, items[0], items[1:3], items + [n]  # noqa: RUF005


def read_while_growing(n: Any) -> Any:
    items = [n]
    total = n * 0
    for i in tf.range(n):
        items.append(items[-1] + i)
        total += items[i] + tf.reduce_sum(tf.stack(items)) + len(items)
    for value in items:
        total += value
    return total, sum(items), tf.add_n(items)


def joined(n: Any) -> Any:
    items = []
    for i in tf.range(n):
        items.append(tf.fill([2, 2], i))
    return (
        tf.concat(items, 0),
        tf.concat(items, 1),
        tf.concat(items, axis=-1),
        tf.stack(items, 1),
        tf.stack(items, axis=-1),
        tf.stack(items),
    )


def in_branches(n: Any) -> Any:
    items = [n]
    if n > 2:
        items.append(n * 2)
    elif n > 1:
        items.append(0)
        items.append(1)
    return items, len(items)


def rows_of_rows(n: Any) -> Any:
    out = []
    for i in tf.range(n):
        row = []
        for j in tf.range(3):
            row.append(i * j)
        out.append(row)
    return tf.stack(out)


def by_an_alias(n: Any) -> Any:
    items = []
    for i in tf.range(n):
        append_to(items, i)
    return items


def made_inside(n: Any) -> Any:
    total = n * 0
    for i in tf.range(n):
        parts = []
        parts.append(i)
        parts.append(i + 1)
        box = Box()
        box.add(i)
        table = {}
        table["k"] = i
        total += tf.reduce_sum(tf.stack(parts)) + box.value + box.count + table["k"]
    return total


def by_methods(n: Any) -> Any:
    box = Box()
    for i in tf.range(n):
        for j in tf.range(2):
            box.add_if(i + j)
        box.add(i)
        box.keep(i)
    return box.value, box.count, box.kept


def by_closures(n: Any) -> Any:
    y, k, items = n * 0, 0, []

    def bump(i: Any) -> Any:
        nonlocal y, k
        y = y + i
        k += 1
        items.append(k)
        return y

    for i in tf.range(n):
        bump(i)
    z = bump(n) if n > 1 else n
    w = n > 2 and bump(n) > 0
    return y, k, items, z, w


def by_a_global(n: Any) -> Any:
    global TOTAL
    TOTAL = n * 0
    for i in tf.range(n):
        add_to_total(i)
    return TOTAL


def by_items(n: Any) -> Any:
    table: dict[str, Any] = {"items": [], "n": 0, "t": tf.constant(1.0)}

    def note(i: Any) -> None:
        table["items"].append(i)
        table["n"] += 1
        table["t"] *= 2.0

    for i in tf.range(n):
        note(i)
    return table


def returned_early(n: Any) -> Any:
    items = []
    for i in tf.range(n):
        items.append(i)
        if i > 1:
            return tf.stack(items) * 10
    return tf.stack(items)


def left_by_break(n: Any) -> Any:
    items = []
    for i in range(6):
        items.append(n + i)
        if n + i > 3:
            break
    return items, len(items)


def over_a_dataset(n: Any) -> Any:
    items = []
    for x in tf.data.Dataset.range(5):
        items.append(x)
        if x > tf.cast(n, tf.int64):
            break
    return items


def as_a_stack(n: Any) -> Any:
    pending, out = [n], []
    while len(pending) > 0:
        x = pending.pop()
        out.append(x)
        if x > 1:
            pending.append(x - 1)
            pending.append(x - 2)
    return out


def of_dictionaries(n: Any) -> Any:
    items, total = [], n * 0
    for i in tf.range(n):
        items.append({"a": i, "b": (i * 2, tf.cast(i, tf.float32))})
    for item in items:
        total += item["a"] + item["b"][0]
    return items, total, items[-1]["b"][1]


def by_an_array_of_an_object(n: Any) -> Any:
    box = Box()
    box.array = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[])

    def put(i: Any) -> None:
        box.array = box.array.write(i, i * i)

    for i in tf.range(n):
        put(i)
    return box.array.stack()


def by_a_flag(n: Any) -> Any:
    box = Box()
    box.found = False

    def look(i: Any) -> None:
        if i == 2:
            box.found = True

    for i in tf.range(n):
        look(i)
    return n * 10 if box.found else n


def seen_by_lambdas(n: Any) -> Any:
    y = n
    f = lambda z: z + y  # noqa: E731
    for i in tf.range(n):
        y = f(i) + y
    return f(n), y


def grown_before_an_inner_loop(n: Any) -> Any:
    items, x = [n], n
    for _ in tf.range(n):
        items.append(x)
        for _ in range(2):
            items.append(x)
        for _ in tf.range(n):
            x = items[-1] + 1
            while len(items) < 3:
                items += [x]
    return items, x


PROGRAMS = [
    grown_before_an_inner_loop,
    returned_early, left_by_break, over_a_dataset, as_a_stack, of_dictionaries,
    by_an_array_of_an_object, by_a_flag, seen_by_lambdas,
    appended, of_pairs, of_python_numbers, changed_in_every_way, read_while_growing, joined,
    in_branches, rows_of_rows, by_an_alias, made_inside, by_methods, by_closures, by_a_global,
    by_items,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_traced_equals_eager(program: Callable[..., Any]) -> None:
    traced = tf.function(program)
    for n in (3, 1, 2):
        x = tf.constant(n)
        assert flat(traced(x)) == flat(program(x))
    assert traced.experimental_get_tracing_count() == 1


def test_lists_of_results_are_lists_outside() -> None:
    first, count = tf.function(appended)(tf.constant(2))
    assert type(first) is list
    assert [int(v) for v in first] == [0, 2]
    assert int(count) == 2
    assert tf.function(appended)(tf.constant(0))[0] == []


@pytest.mark.parametrize("order", [1, 2])
def test_gradients(order: int) -> None:
    def f(x: Any) -> Any:
        items = []
        box = Box()
        box.value = x[0] * 0.0
        for i in tf.range(3):
            items.append(x[i] ** 3)
            box.add(items[-1] * x[i])
            if x[i] > 1.5:
                items.append(items[0] * x[i])
        return tf.reduce_sum(tf.stack(items) ** 2) + box.value + items[1]

    def gradient(g: Callable[..., Any], x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0, 0.5], tf.float64)
    eager, traced = f, tf.function(f)
    for _ in range(order - 1):
        eager = lambda x, g=eager: gradient(g, x)  # noqa: E731
        traced = lambda x, g=traced: gradient(g, x)  # noqa: E731
    np.testing.assert_allclose(gradient(traced, x), gradient(eager, x), rtol=1e-12)


def test_gradients_of_the_list_that_is_returned() -> None:
    @tf.function
    def f(x: Any) -> Any:
        items = []
        for i in tf.range(3):
            items.append(x[i] * x[i])
        return items

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        items = f(x)
        y = items[0] + 2.0 * items[2]
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 0.0, 12.0]


def test_lists_that_are_only_read_stay_python() -> None:
    @tf.function
    def f(x: Any) -> Any:
        items, seen = [x, x + 1], []
        for i in tf.range(x):
            x += items[0] + len(items) + i * 0
        seen.append(len(items))
        assert type(items) is list
        assert seen == [2]
        return x

    assert int(f(tf.constant(2))) == 10


def test_logs_of_python_values_that_outlive_the_trace_are_left_alone() -> None:
    log: list[str] = []

    @tf.function
    def f(n: Any) -> Any:
        s = n
        for i in tf.range(n):
            log.append("turn")
            s += i
        return s

    with pytest.warns(UserWarning, match="changes this list once"):
        assert int(f(tf.constant(4))) == 10
    assert log == ["turn"]


def test_what_outlives_the_trace_is_python_again() -> None:
    box = Box()

    @tf.function
    def f(n: Any) -> Any:
        for i in tf.range(n):
            OUTSIDE.append(i)
            box.add(i)
        return tf.stack(OUTSIDE), box.count

    with pytest.warns(UserWarning, match="older than the trace"):
        stacked, count = f(tf.constant(3))
    assert stacked.numpy().tolist() == [0, 1, 2]
    assert int(count) == 3
    assert box.count == 1  # once for the trace, as in TensorFlow
    assert type(OUTSIDE) is list
    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        print(OUTSIDE[0] + 1)
    OUTSIDE.clear()


def test_objects_that_make_their_variables_inside() -> None:
    class Lazy(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.built = False

        def __call__(self, x: Any) -> Any:
            if not self.built:
                self.w = tf.Variable(2)
                self.built = True
            return self.w * x

    lazy = Lazy()

    @tf.function
    def f(n: Any) -> Any:
        s = n
        for i in tf.range(n):
            s += lazy(i)
        return s

    assert int(f(tf.constant(3))) == 9
    assert lazy.built is True


def test_strictness_refuses_as_tensorflow_does() -> None:
    def hidden(n: Any) -> Any:
        box = Box()
        for i in tf.range(n):
            box.add(i)
        return box.value + 1

    def grown(n: Any) -> Any:
        items = []
        for i in tf.range(n):
            items.append(i)
        return items[0] + 1

    for function in (hidden, grown):
        with strict(), pytest.raises(InaccessibleTensorError):
            tf.function(function)(tf.constant(2))


def test_unsupported_uses_of_lists_in_graphs_are_reported() -> None:
    def of_two_types(n: Any) -> Any:
        items = [n]
        for _ in tf.range(n):
            items.append(n)
        items.append(1.5)
        return items

    def comprehended(n: Any) -> Any:
        items = [n]
        for _ in tf.range(n):
            items.append(n)
        return [v + 1 for v in items]

    def sorted_in_place(n: Any) -> Any:
        items = [n]
        for _ in tf.range(n):
            items.append(n)
        items.sort()
        return items

    for function, kind, text in [
        (of_two_types, TypeError, "This list holds int32, and float32 is appended: cast it"),
        (comprehended, TypeError, "write a `for` statement over it"),
        (sorted_in_place, AttributeError, "has no 'sort': go on with tf.stack"),
    ]:
        with pytest.raises(kind, match=text):
            tf.function(function)(tf.constant(2))
