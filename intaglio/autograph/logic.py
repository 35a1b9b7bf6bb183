"""`and`, `or`, `not` and conditional expressions on Python values and on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.autograph.conditionals import decided, is_staged, staged_if_expression
from intaglio.opdef import raw


def and_(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """`first() and second()`: on tensors, the second runs only if the first is true."""
    left = first()
    test = decided(left)
    if is_staged(test):
        return staged_if_expression(test, second, lambda: left, "and")
    return left and second()


def or_(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """`first() or second()`: on tensors, the second runs only if the first is false."""
    left = first()
    test = decided(left)
    if is_staged(test):
        return staged_if_expression(test, lambda: left, second, "or")
    return left or second()


def not_(value: Any) -> Any:
    """`not value`."""
    value = decided(value)
    return raw.LogicalNot(value) if is_staged(value) else not value


def if_exp(test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], text: str) -> Any:
    """`if_true() if test else if_false()`; `text` is the test as the user wrote it."""
    test = decided(test)
    if is_staged(test):
        return staged_if_expression(test, if_true, if_false, text)
    return if_true() if test else if_false()
