"""Functions of plain Python whose converted forms must do exactly the same."""

# ruff: noqa: E731

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

COUNT = 0


def early_return(x: int) -> Any:
    if x > 3:
        return "big"
    if x > 1:
        x += 1
        if x == 3:
            return "three"
    return x


def no_return(x: int) -> None:
    if x > 1:
        return
    x += 1


def loop_with_everything(n: int) -> Any:
    total = 0
    for i in range(n):
        if i == 1:
            continue
        for j in range(i):
            if j == 3:
                break
            if i == 7:
                return total, i, j
            total += j
        else:
            total += 100
    else:
        total += 1000
    return total


def only_jumps(n: int) -> Any:
    for i in range(n):  # noqa: B007
        continue
    while n > 0:
        n -= 1
        continue
    for j in range(3):  # noqa: B007
        break
    while True:
        break
    return n, j


def late_binding(n: int) -> Any:
    def read() -> int:
        return k

    made: list[Callable[[], Any]] = [read]
    for k in range(n + 1):
        made.append(lambda: k)  # noqa: B023
        if k > 1:
            inside = k * 10
            made.append(lambda: inside)  # noqa: B023
    return [f() for f in made]


def items_set_anew(n: int) -> Any:
    total = 0
    for d in range(n):
        if d != 3:
            d = d * 2
        total += d
    for a, (b, *c) in [(1, (2, 3)), (4, (5, 6, 7))]:
        if a < n:
            a = b
            c = [*c, n]
        total += a + sum(c)
    return total


def what_is_left(n: int) -> Any:
    items = iter(range(8))
    for i in items:
        if i == n:
            break
    for j in items:
        if j > 2 * n:
            return list(items)
        if j == 5:
            continue
    return next(items, "nothing"), list(items)


def stops_within(n: int) -> Any:
    def broken() -> Any:
        for i in range(3):
            if i == n:
                next(iter([]))
        return "to the end"

    try:
        return broken()
    except StopIteration:
        return "stopped"


def while_else(n: int) -> Any:
    seen = []
    while n > 0:
        n -= 1
        if n == 5:
            break
        if n % 2:
            continue
        seen.append(n)
    else:
        seen.append("else")
    return seen, n


def logic(x: int) -> Any:
    def fail() -> bool:
        raise RuntimeError("must not run")

    a = x > 100 and fail()
    b = x < 100 or fail()
    c = not a if x else "zero"
    empty: list[int] = []
    return a, b, c, 1 < x < 5, empty and fail(), "" or None


def closures(x: int) -> Any:
    count = 0

    def bump(by: int = 2) -> int:
        nonlocal count
        count += by
        return count

    make: Callable[[int], int] = lambda y, z=x: y * z
    bump()
    return bump(3), count, make(4), (lambda: count)()


def structures(x: int) -> Any:
    d: dict[str, Any] = {"k": x}
    d["k"] += 1
    d["new"] = [i * x for i in range(3) if i != 1]
    first, *rest = d["new"]
    a, (b, c) = 1, (2, 3)
    if x > 1:
        d["k"] = a + b + c
    return d, first, rest, {k: v for k, v in d.items() if k}, f"{x=} {d['k']:>4}"


def handlers(x: int) -> Any:
    log = []
    for i in range(3):
        try:
            if i == x:
                raise ValueError(i)
            if i == 2:
                return log
            log.append(i)
        except ValueError as e:
            log.append(str(e))
            continue
        finally:
            log.append("f")
    return log


def matching(x: Any) -> Any:
    match x:
        case 0:
            return "zero"
        case [a, *rest] if len(rest) > 1:
            result = a, rest
        case {"k": v}:
            result = v
        case int() | float():
            result = "number"
        case _:
            result = None
    return result


def walrus(x: int) -> Any:
    if (y := x * 2) > 3 and (z := y + 1) > 5:
        return y, z
    return [w for i in range(4) if (w := i * y) > 2], y


def arguments(x: int, *args: int, k: int = 1, **kwargs: int) -> Any:
    def inner(a: int, /, b: int = 5, *c: int, d: int = 6, **e: int) -> Any:
        return a, b, c, d, e

    return (inner(x, *args, d=k, **kwargs), inner(*[x, *args], **dict(kwargs, q=1)), inner(x))


def generators(x: int) -> Any:
    def squares(n: int) -> Iterator[int]:
        for i in range(n):
            if i == 2:
                continue
            yield i * i

    return (
        list(squares(x)),
        sum(i for i in squares(x)),
        max((abs(i - 3) for i in range(x)), default=None),
    )


def global_state(x: int) -> int:
    global COUNT
    if x > 1:
        COUNT += x
    else:
        COUNT = x
    return COUNT


def deletion(x: int) -> Any:
    y = x
    del y
    if x > 1:
        y = 2
    try:
        return y + 0
    except UnboundLocalError:
        return "unbound"


class Base:
    def __init__(self) -> None:
        self.value = 1
        self.__hidden = 10

    def grow(self, by: int) -> int:
        if by > 0:
            self.value += by
        return self.value

    def hidden(self) -> int:
        if self.value:
            self.__hidden += 1
        return self.__hidden


class Derived(Base):
    def grow(self, by: int) -> int:
        if by > 1:
            return super().grow(by * 2)
        return super().grow(by)

    @property
    def double(self) -> int:
        return self.value * 2

    def __call__(self, x: int) -> int:
        return x + self.value if x else 0


def objects(x: int) -> Any:
    thing = Derived()
    thing.grow(x)
    if x > 1:
        thing.value += 1
        thing.extra = x  # type: ignore[attr-defined]
    return (thing.value, thing.double, thing(x), thing.hidden(), functools.partial(thing.grow, 1)())


def decorated(x: int) -> Any:
    def twice(f: Callable[[int], int]) -> Callable[[int], int]:
        @functools.wraps(f)
        def wrapper(y: int) -> int:
            return f(f(y))

        return wrapper

    @twice
    def add(y: int) -> int:
        return y + x if y else x

    return add(x), add.__name__


PROGRAMS: list[Callable[..., Any]] = [
    early_return, no_return, loop_with_everything, only_jumps, late_binding, items_set_anew, what_is_left, stops_within, while_else, logic, closures, structures, handlers,
    walrus, generators, deletion, objects, decorated, global_state,
]  # fmt: skip
