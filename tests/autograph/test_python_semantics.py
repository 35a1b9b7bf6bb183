"""On Python values, converted code does exactly what the user's code does."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf
from intaglio.autograph import api

from . import python_programs as programs
from .checklist import item


@pytest.mark.parametrize("value", [0, 1, 2, 3, 8, 12])
@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
@item("converts: only tensors are staged")
def test_the_converted_function_does_the_same(program: Callable[..., Any], value: int) -> None:
    programs.COUNT = 0
    wanted = program(value)
    programs.COUNT = 0
    assert api.to_graph(program)(value) == wanted


@pytest.mark.parametrize("subject", [0, 3, 2.5, [1, 2, 3], [1], {"k": 5}, "other"])
def test_match_statements(subject: Any) -> None:
    assert api.to_graph(programs.matching)(subject) == programs.matching(subject)


def test_arguments_and_defaults_are_kept() -> None:
    twin = api.to_graph(programs.arguments)
    assert twin(1, 2, k=3, m=4) == programs.arguments(1, 2, k=3, m=4)
    assert inspect.signature(twin) == inspect.signature(programs.arguments)


def test_bound_methods_keep_their_object() -> None:
    thing = programs.Derived()
    assert api.to_graph(thing.grow)(3) == 7
    assert thing.value == 7


def test_lambdas_on_one_line_are_distinguished() -> None:
    first, second = (lambda x: x + 1 if x else 0), (lambda x: x * 10 if x else 0)
    assert [api.to_graph(f)(4) for f in (first, second)] == [5, 40]


def test_a_lambda_in_a_lambda_on_one_line_is_found() -> None:
    outer = lambda: lambda: 1 if outer else 0  # noqa: E731
    starred = lambda: lambda *a: a[0] if a else 0  # noqa: E731
    named = lambda k: lambda *k: k[0] if k else 0  # noqa: E731
    assert [api.to_graph(outer)()(), api.to_graph(outer())()] == [1, 1]
    assert [api.to_graph(starred())(5), api.to_graph(named(1))(7)] == [5, 7]


def fails(x: int) -> int:
    if x > 0:
        for _ in range(2):
            x = x // 0  # the line
    return x


def test_tracebacks_show_the_users_lines_and_names() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        api.to_graph(fails)(1)
    frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
    assert frames[-1].line == "x = x // 0  # the line"
    assert {f.name for f in frames[1:]} == {"fails"}


def test_a_breakpoint_on_a_users_line_is_hit() -> None:
    import bdb

    hits: list[tuple[str, int]] = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame: Any) -> None:
            if self.break_here(frame):
                hits.append((frame.f_code.co_name, frame.f_locals.get("x", 0)))
            self.set_continue()

    lines, first = inspect.getsourcelines(programs.early_return)
    debugger = Debugger()
    debugger.set_break(
        programs.__file__, first + next(i for i, t in enumerate(lines) if "x += 1" in t)
    )
    debugger.runcall(api.to_graph(programs.early_return), 2)
    assert hits and hits[0][0] == "early_return"


def test_source_that_cannot_be_read_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    space: dict[str, Any] = {}
    exec("def unseen(x):\n    return x + 1", space)
    with pytest.raises(ValueError, match=r"^converting <function unseen"):
        tf.autograph.to_code(space["unseen"])


def test_do_not_convert_is_left_alone() -> None:
    @tf.autograph.experimental.do_not_convert
    def plain(x: Any) -> Any:
        return inspect.currentframe().f_code.co_varnames  # type: ignore[union-attr]

    def caller(x: Any) -> Any:
        return plain(x)

    assert api.to_graph(caller)(1) == ("x",)
