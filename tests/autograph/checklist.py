"""What AutoGraph promises, item by item; `item` marks which a test, or a row of one, checks.

The items are those of TensorFlow's reference: what must convert, what must raise and with
which words, what TensorFlow leaves alone and converts here, and what is silently wrong there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

CONVERTS = (
    "only tensors are staged", "if becomes cond", "names of one branch only", "chains of elif and return",
    "the test of a while is traced once to choose", "for over tensors, ranges, ragged tensors, datasets, iterators",
    "break, continue, nested loops, the loop variable after", "names first set in a loop, or None before it",
    "return in a loop", "attributes, items and keys as state", "globals and swaps", "structures as loop variables",
    "lazy logic and chains", "builtins on tensors", "callees", "with, try and tapes", "loop options", "the tools",
    "two lambdas of one signature", "the cache, and sources of converted code",
)  # fmt: skip
RAISES = (
    "set in one branch", "None in a branch", "dtypes of branches", "structures of branches", "return in one branch",
    "conditions", "dtype of a loop variable", "shape of a loop variable", "shape invariants",
    "structure of a loop variable", "None or undefined in a loop", "conditional return in a loop",
    "break in a Python loop", "a condition that becomes a tensor", "unsupported loop values", "undefined names",
    "out of scope", "iteration", "truth", "NumPy functions", "attributes of tensors", "what tensors cannot do",
    "len of a scalar", "static index out of bounds", "variables on later calls", "bad return values", "binding",
    "unhashable arguments", "endless and large Python loops", "errors of tracing", "errors of a run",
)  # fmt: skip
LEFT_ALONE = (
    "for/else",
    "while/else",
    "match",
    "walrus",
    "generators",
    "async",
    "private names",
    "wrapping decorators",
    "no source",
    "the warning",
)
SILENTLY_WRONG = (
    "raise",
    "try",
    "text",
    "unassigned write",
    "del",
    "side effects",
    "lambdas over loop names",
    "py_function",
    "helpers that change globals",
    "numbers",
)
ITEMS = frozenset(
    {
        *[f"converts: {name}" for name in CONVERTS],
        *[f"raises: {name}" for name in RAISES],
        *[f"left alone: {name}" for name in LEFT_ALONE],
        *[f"silently wrong: {name}" for name in SILENTLY_WRONG],
        "eager or an error",
    }
)


def item(*names: str) -> Callable[[Function], Function]:
    """Marks a test, or a program that one runs, as the check of these items."""

    def marked(function: Function) -> Function:
        assert set(names) <= ITEMS, names
        return function

    return marked
