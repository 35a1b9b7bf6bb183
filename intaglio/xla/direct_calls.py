"""Programs as functions of a call's arrays with as few calls as can be, for entries of functions.

What a program needs besides arrays and variables of the host, `Programs` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from intaglio.base.errors import OpError
from intaglio.base.generated_code import GeneratedCode
from intaglio.runtime.resources import Locks, device_value, donation_lines, give, present_value
from intaglio.xla.donated import apart, raise_if_lost

Run = Callable[..., tuple[Any, ...]]


def of_arrays(program: Any) -> Run:
    """A program of arrays alone, of any device."""
    plain = program.plain
    swap, set_back = jax.enable_x64.swap_local, jax.enable_x64.set_local

    def call(*arrays: Any) -> tuple[Any, ...]:
        before = swap(True)  # as a context it costs a microsecond
        try:
            return plain(arrays)
        finally:
            set_back(before)

    return call


def bound(program: Any, captured: Sequence[Any], otherwise: Run) -> Run | None:
    """A simple program as a function of the arrays before `captured`, which all calls share.

    None for other variables than those that the program was made for. Where it raises an error that is not
    of an op, `otherwise` is called with all arrays instead.
    """
    first = len(program.graph.inputs) - len(captured)
    whole = [*[None] * first, *captured]
    if not program.variables_are(whole):
        return None
    names = [f"a{i}" if i < first else f"c{i}" for i in range(len(whole))]
    written, read, _ = program.operand_indices
    variables = [whole[i] for i in written]
    space: dict[str, Any] = {
        **dict(zip(names[first:], captured, strict=True)),
        "run": program.run,
        "otherwise": otherwise,
        "value_of": program.value_of,
        "variables": variables,
        "locks": variables[0].lock if len(variables) == 1 else Locks(variables),
        "swap": jax.enable_x64.swap_local,
        "set_back": jax.enable_x64.set_local,
        **_SHARED,
    }
    lines = [
        *[f"x{i} = {device_value(names[i])}" for i in read],
        *[f"if x{i} is None: x{i} = value_of({names[i]})" for i in read],
        *_run_lines(len(program.graph.outputs), names, program.operand_indices),
        "return found",
    ]
    source = [
        f"def call({', '.join(names[:first])}):",
        " before = swap(True)",
        " try:",
        *_indented(lines, 2),
        " except OpError:",
        "  raise",
        " except Exception:",  # before a variable was written
        "  pass",
        " finally:",
        "  set_back(before)",
        f" return otherwise({', '.join(names)})",
    ]
    code = GeneratedCode(f"program {program.graph.name}", "\n".join(source), space)
    return code.function("call")


def _run_lines(outputs: int, names: Sequence[str], indices: Sequence[Sequence[int]]) -> list[str]:
    """The lines that run a program, make its outputs arrays of the host, and give variables their new values."""
    written, read, passed = indices
    operands = [f"x{i}" for i in read] + [names[i] for i in passed]
    count = outputs + len(written)
    results = ["r"] if count == 1 else [f"r[{i}]" for i in range(count)]
    found = "".join([f"asarray({r}), " for r in results[:outputs]])
    if not written:
        return [f"r = run({', '.join(operands)})", f"found = ({found})"]
    taking, giving = donation_lines([names[i] for i in written], results[outputs:])
    return [
        "with locks:",
        *_indented(taking, 1),
        " try:",
        # The local variables of the values refer to them, too.
        f"  r = run({', '.join(['*apart(taken, 2)', *operands])})",
        f"  found = ({found})",
        " except BaseException as e:",
        "  give(variables, taken, taken)",
        "  raise_if_lost(variables, taken, e)",
        "  raise",
        *_indented(giving, 1),
    ]


def _indented(lines: Sequence[str], depth: int) -> list[str]:
    return [" " * depth + line for line in lines]


_SHARED = {
    "OpError": OpError,
    "apart": apart,
    "asarray": np.asarray,
    "give": give,
    "present_value": present_value,
    "raise_if_lost": raise_if_lost,
}

__all__ = ["bound", "of_arrays"]
