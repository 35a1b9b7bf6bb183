"""Lines of every kind that converted code can have: a debugger stops at those marked `stop`."""

# ruff: noqa: E731, RUF015
# fmt: off

from __future__ import annotations

from typing import Any

from intaglio import tf


def program(x: Any, n: Any) -> Any:
    a = x + 1  # stop
    if a > 0:  # stop
        b = a  # stop
    elif a > -5:  # stop
        b = -a  # stop
    else:
        b = a * 2  # stop
    i = 0
    while i < n:  # stop
        i += 1  # stop
        if i == 2:  # stop
            continue  # stop
        if i > 5:
            break  # stop
        b = b + i  # stop
    for k in tf.range(n):  # stop
        b = (  # stop
            b
            + k  # stop
        )
    for k in range(2):  # stop
        b = b + k  # stop
    else:
        b = b + 1  # stop
    try:
        with tf.name_scope("s"):  # stop
            b = b * 2  # stop
    finally:
        c = b  # stop

    def nested(y: Any) -> Any:
        if y > 0:  # stop
            return y + 1  # stop
        return y  # stop

    half = lambda y: (  # stop
        y // 2  # stop
    )
    d = nested(c)  # stop
    e = [
        half(d)  # stop
        for _ in (1, 2)
    ]
    f = e[0] if d > 0 else half(  # stop
        e[1]  # stop
    )
    g = f > 0 and (  # stop
        f < 100000  # stop
    )
    if g:  # stop
        return f  # stop
    assert f is not None  # stop
    return d  # stop


def failing(x: Any, where: str) -> Any:
    fail = lambda y: y + tf.ones([7])
    if x[0] > 0:
        if where == "if":
            x = fail(x)  # if
    else:
        if where == "else":
            x = fail(x)  # else
    i = 0
    while i < 2:
        i += 1
        if where == "while":
            x = fail(x)  # while
    for _ in tf.range(2):
        if where == "for":
            x = fail(x)  # for

    def nested(y: Any) -> Any:
        while tf.reduce_sum(y) > 100:
            if where == "nested":
                return fail(y)  # nested
        return y

    x = nested(x)
    if where == "comprehension":
        x = [
            fail(x)  # comprehension
            for _ in (1,)
        ][0]
    if where == "expression":
        x = x if x[0] < 0 else fail(x)  # expression
    if where == "logic":
        x = x[0] < 0 or fail(x)  # logic
    with tf.name_scope("s"):
        if where == "with":
            x = fail(x)  # with
    try:
        if where == "try":
            x = fail(x)  # try
    finally:
        x = x * 1
    return x
