"""Signatures of plain functions are those of `inspect`."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import pytest

from intaglio.function.signature import Signature

_TEXTS = [
    "", "a", "a, b=2", "a, /", "a, /, b", "a, b=1, /, c=2, *, d, e=3", "*args", "a, *rest, b=1, **kw",
    "**kw", "*, a", "a: int, b: 'str' = 'x', *c: float, d: bool = True, **e: int",
]  # fmt: skip


def _function(parameters: str) -> Any:
    space: dict[str, Any] = {}
    exec(f"def f({parameters}):\n    local = 1\n    return local", space)
    return space["f"]


@pytest.mark.parametrize("parameters", _TEXTS)
def test_plain_functions(parameters):
    function = _function(parameters)
    expected = tuple(inspect.signature(function).parameters.values())
    assert Signature.of(function).parameters == expected


def test_functions_that_say_otherwise():
    inner = _function("a, b=2")

    @functools.wraps(inner)
    def wrapped(*args: Any) -> Any:
        return inner(*args)

    def own(*args: Any) -> Any:
        return args

    own.__signature__ = inspect.signature(inner)  # type: ignore[attr-defined]  # as decorators set it
    for function in (wrapped, own, functools.partial(inner, 1), len, _Callable()):
        expected = tuple(inspect.signature(function).parameters.values())
        assert Signature.of(function).parameters == expected


class _Callable:
    def __call__(self, x: int, y: int = 2) -> int:
        return x + y
