"""Statements that TensorFlow gives up a function for: converted, or left to Python alone."""

# ruff: noqa: F841, PIE804, UP031, UP032, C416

from __future__ import annotations

import functools
import linecache
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.autograph import line_warnings
from intaglio.autograph.strictness import strict

from .checklist import item

refused = tf.errors.OperatorNotAllowedInGraphError


def flat(value: Any) -> list[Any]:
    return [np.asarray(v).tolist() for v in tf.nest.flatten(value)]


@item("left alone: match")
def matched(x: Any) -> Any:
    match x:
        case 1:
            y = x * 2
        case 2 | 3:
            y = x * 3
        case z if z > 10:
            y = z
        case _:
            y = -x
    return y


@item("left alone: match")
def matched_shapes(x: Any) -> Any:
    match (x, {"k": x + 1}):
        case (1, {"k": k}) | (2, {"k": 3 as k}):
            return k
        case (a, {"k": _}) if a > 3:
            return a * 2
        case _:
            return -x


@item("left alone: match")
def matched_in_a_loop(x: Any) -> Any:
    total = x * 0
    for i in tf.range(x):
        match i % 4:
            case 0:
                continue
            case 3:
                break
            case k:
                total += k * i
    else:
        total += 100
    return total


@item("left alone: match")
def matched_by_class(x: Any) -> Any:
    box = Box(x, 2)
    match box:
        case Box(value=1, other=other):
            return other + x
        case Box(value=v, other=2) if v > 5:
            return v
    return -x


class Box:
    def __init__(self, value: Any, other: Any) -> None:
        self.value = value
        self.other = other


@item("left alone: walrus")
def bound_in_a_test(x: Any) -> Any:
    if (y := x + 1) > 2:
        return y
    return -y


@item("left alone: walrus")
def bound_after_and(x: Any) -> Any:
    if x > 0 and (y := x + 1) > 2:
        z = y
    else:
        z = x
    return z


@item("left alone: walrus")
def bound_in_while(x: Any) -> Any:
    i, seen = x * 0, x * 0
    while (j := i * 2) < x:
        i += 1
        if i == 2:
            continue
        seen += j
    return i, j, seen


@item("left alone: walrus")
def bound_in_a_value(x: Any) -> Any:
    a = ((y := x * 2) if x > 2 else (y := x)), y
    b = not (x > 1 and (z := x) > 3)
    return a, b, y


@item("left alone: for/else")
def for_else(x: Any) -> Any:
    total = x * 0
    for i in tf.range(x):
        if i > 2:
            break
        total += i
    else:
        total += 100
    return total


@item("left alone: while/else")
def while_else(x: Any) -> Any:
    i = x * 0
    while i < x:
        i += 1
        if i == 3:
            break
    else:
        return i * 10
    return i


class Private:
    def __init__(self) -> None:
        self.__value = tf.constant(3)

    def __call__(self, x: Any) -> Any:
        __k = x
        if x > 2:
            self.__value = x
            __k = self.__double(x)
        return __k + self.__value

    def __double(self, x: Any) -> Any:
        if x > 3:
            return x * 2
        return x


@item("left alone: generators")
def beside_a_generator(x: Any) -> Any:
    def several() -> Any:
        for i in range(3):
            yield x + i if i > 1 else x

    total = x
    for v in several():
        if v > 2:
            total += v
    return total


@item("left alone: async")
def beside_a_coroutine(x: Any) -> Any:
    async def later() -> Any:
        return x

    later().close()
    return x + 1 if x > 2 else x


def beside_a_class(x: Any) -> Any:
    class Local:
        held = x + 1

        def larger(self, y: Any) -> Any:
            if y > self.held:
                return y
            return self.held

    return Local().larger(x * 2)


def with_stars(x: Any) -> Any:
    first, *rest = [x, x + 1, x + 2]

    def chosen(*args: Any, **named: Any) -> Any:
        if args[0] > 3:
            return args[0] + named["k"]
        return args[1]

    return chosen(*rest, **{"k": first})


def deleted(x: Any) -> Any:
    y, z = x, 1
    table = {"a": x, "b": x}
    del z, table["a"]
    if x > 2:
        y = y + 1
        del table["b"]
        table["b"] = y
    return y, table


def tried(x: Any) -> Any:
    try:
        with tf.name_scope("a") as _, tf.name_scope("b"):
            y = x if x > 2 else -x
    except ValueError:
        y = x
    else:
        y = y + 1
    finally:
        z = 1
    return y + z, [v + 1 if v > 2 else v for v in (x, -x)]


class Measured:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.asked = 0

    @property
    def size(self) -> Any:
        self.asked += 1
        if self.value > 3:
            return self.value
        return -self.value

    @property
    def doubled(self) -> Any:
        return self.size * 2 if self.value > 2 else self.size


def by_properties(x: Any) -> Any:
    thing = Measured(x)
    total = thing.size + Measured(x + 1).doubled
    for i in tf.range(x):
        if thing.doubled > i:
            total += thing.size
    return total, thing.asked


def wrapped(f: Any) -> Any:
    @functools.wraps(f)
    def wrapper(x: Any) -> Any:
        if x > 3:
            return f(x)
        return f(x) + 1

    return wrapper


class Proxy:
    """A function wrapped by an object that passes for it, as wrapt's decorators do."""

    def __init__(self, inner: Any) -> None:
        self.__wrapped__ = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __get__(self, instance: Any, owner: Any) -> Any:
        return Proxy(self.__wrapped__.__get__(instance, owner))

    def __call__(self, x: Any) -> Any:
        if x > 2:
            return self.__wrapped__(x) * 2
        return self.__wrapped__(x)


class WithProxy:
    @Proxy
    def method(self, x: Any) -> Any:
        if x > 3:
            return x
        return -x


@Proxy
@wrapped
@wrapped
def decorated(x: Any) -> Any:
    if x > 1:
        return x
    return -x


@item("left alone: wrapping decorators")
def through_wrappers(x: Any) -> Any:
    either = functools.partial(lambda y, z: z if z > y else y, 2)
    up, down = (lambda y: y if y > 3 else y + 1), (lambda y: y if y > 3 else y - 1)
    return decorated(x), WithProxy().method(x), either(x), up(x), down(x)


PROGRAMS = [
    by_properties, through_wrappers,
    matched, matched_shapes, matched_in_a_loop, matched_by_class, bound_in_a_test, bound_after_and,
    bound_in_while, bound_in_a_value, for_else, while_else, beside_a_generator,
    beside_a_coroutine, beside_a_class, with_stars, deleted, tried,
    lambda x: Private()(x),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_traced_equals_eager(program: Callable[..., Any]) -> None:
    traced = tf.function(program)
    for n in (1, 2, 3, 4, 5, 11):
        x = tf.constant(n)
        assert flat(traced(x)) == flat(program(x)), n
    assert traced.experimental_get_tracing_count() == 1


# -- what stays Python says so ----------------------------------------------------------


def in_a_generator(x: Any) -> Any:
    def several() -> Any:
        if x > 1:  # here
            yield x

    return [*several()]


def in_a_class_body(x: Any) -> Any:
    class Local:
        held = x + 1 if x > 0 else x  # here

    return Local.held


def over_a_tensor(x: Any) -> Any:
    return [v for v in tf.range(x)]  # here


def with_a_condition(x: Any) -> Any:
    return sum(v for v in (1, 2) if x > v)  # here


@tf.autograph.experimental.do_not_convert
def unconverted(x: Any) -> Any:
    return x if x > 1 else -x  # here


def in_what_is_not_converted(x: Any) -> Any:
    return unconverted(x)


@pytest.mark.parametrize(
    ("function", "construct", "instead"),
    [
        (in_a_generator, "'several' is a generator", "Collect the values in a list"),
        (in_a_class_body, "the body of class 'Local'", "in front of the class"),
        (over_a_tensor, "is a list comprehension", "or tf.map_fn(f, tf.range(x))"),
        (with_a_condition, "is a generator expression", "Write a `for` statement"),
        (in_what_is_not_converted, "marked with do_not_convert", "or use tf.cond"),
    ],
)
def test_what_stays_python_is_named(function: Any, construct: str, instead: str) -> None:
    with pytest.raises(refused) as caught:
        tf.function(function)(tf.constant(2))
    told = str(caught.value).splitlines()[-1]
    line = int(re.findall(r'test_statements.py", line (\d+): ', told)[0])
    assert linecache.getline(__file__, line).rstrip().endswith("# here")
    assert construct in told
    assert instead in told


@pytest.mark.parametrize("name", ["<ipython-input-7-0a1b>", "/tmp/ipykernel_1/2.py"])
def test_cells_of_notebooks_are_files_to_linecache(name: str) -> None:
    source = "@wrapped\ndef f(x):\n    if x > 5:\n        return x\n    return -x\n"
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    space: dict[str, Any] = {"wrapped": wrapped}
    exec(compile(source, name, "exec"), space)
    f = tf.function(space["f"])
    assert [int(f(tf.constant(n))) for n in (2, 4, 6)] == [-1, -4, 6]


@item("left alone: no source", "left alone: the warning")
def test_functions_without_source_say_so(caplog: Any) -> None:
    space: dict[str, Any] = {"tf": tf}
    source = "def f(x):\n    if x > 1:\n        return x\n    return -x\n"
    exec(compile(source, "<nowhere>", "exec"), space)
    with pytest.raises(refused) as caught:
        tf.function(space["f"])(tf.constant(2))
    assert "AutoGraph could not transform <function f at" in caplog.text
    assert "and will run it as-is" in caplog.text
    told = str(caught.value)
    assert "\"<nowhere>\", line 2: 'f' is not converted" in told
    assert "the source of <nowhere> cannot be read" in told
    assert "linecache" in told
    lines = source.splitlines(keepends=True)
    linecache.cache["<somewhere>"] = (len(source), None, lines, "<somewhere>")
    exec(compile(source, "<somewhere>", "exec"), space)
    assert int(tf.function(space["f"])(tf.constant(1))) == -1


# -- what is silently wrong in TensorFlow is reported -----------------------------------


TEXTS: list[Callable[..., Any]] = [
    lambda x: f"value {x + 1}",
    lambda x: "value %s" % x,
    lambda x: "value %s %d" % (x, 2),
    lambda x: "value {} {}".format(2, x),
    lambda x: str(x),
    lambda x: repr(x),
    lambda x: format(x),
]


@pytest.mark.parametrize("at", range(len(TEXTS)))
@item("silently wrong: text")
def test_text_of_symbolic_tensors_warns_once(at: int) -> None:
    text = TEXTS[at]

    def f(x: Any) -> Any:
        for _ in range(2):
            text(x)
        return x

    with pytest.warns(UserWarning, match="made while the function is traced") as seen:
        tf.function(f)(tf.constant(at))
    assert len(seen) == 1
    line = text.__code__.co_firstlineno
    assert (seen[0].filename, seen[0].lineno) == (__file__, line)
    assert str(seen[0].message).startswith(f"line {line}: ")
    assert "tf.strings.format" in str(seen[0].message)
    assert "tf.print" in str(seen[0].message)


@item("silently wrong: side effects")
def test_print_in_a_staged_block_warns(capsys: Any) -> None:
    def f(x: Any) -> Any:
        print("tracing", x, f"{x}")
        for i in tf.range(x):
            print("turn", i)
        return x

    with pytest.warns(UserWarning, match="Write tf.print to print its value each time"):
        tf.function(f)(tf.constant(2))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith('tracing Tensor("x:0"')
    assert lines[1].startswith("turn Tensor(")
    assert len(lines) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(tf.constant(1))  # eagerly it has a value


def test_dropped_results_are_reported() -> None:
    def written(x: Any) -> Any:
        ta = tf.TensorArray(tf.int32, 2)
        ta.unstack([x, x])
        return ta.stack()

    def scattered(x: Any) -> Any:
        tf.tensor_scatter_nd_update(x, [[0]], [5])
        return x

    with pytest.raises(ValueError, match=re.escape("Write `ta = ta.unstack([x, x])`.")):
        tf.function(written)(tf.constant(2))
    with strict():
        assert flat(tf.function(written)(tf.constant(2))) == [[0, 0]]
    with pytest.warns(UserWarning, match="tensor_scatter_nd_update changes no tensor"):
        tf.function(scattered)(tf.constant([1, 2]))


@pytest.mark.parametrize(
    "change", [lambda d, s: d.pop("a"), lambda d, s: s.add(1), lambda d, s: d.update(b=2)]
)
def test_a_dict_or_set_that_a_branch_changes_is_reported(change, monkeypatch):
    """TensorFlow 2.21 changes it at the trace, whatever the condition is, and says nothing."""
    monkeypatch.setattr(line_warnings, "_reported", set())
    held, seen = {"a": 1}, set()

    @tf.function
    def f(x):
        if x > 0:
            change(held, seen)
        return x

    with pytest.warns(UserWarning, match="once, while the staged loop or branch"):
        f(tf.constant(1.0))


def test_a_dict_that_changes_outside_of_blocks_is_not():
    @tf.function
    def f(x):
        held = {"a": x}
        return held.pop("a") + 1.0

    assert f(tf.constant(1.0)).numpy() == 2.0
