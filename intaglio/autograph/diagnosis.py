"""Warnings about silent mistakes: symbolic tensors formatted as text, results that are dropped.

Each line of the user's is warned about once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from intaglio.autograph import builtin_functions, provenance, unconverted_reads
from intaglio.autograph.conditionals import is_staged
from intaglio.autograph.line_warnings import warn_at
from intaglio.autograph.provenance import Provenance
from intaglio.autograph.strictness import is_strict
from intaglio.autograph.watches import in_block, is_watched, note_advance
from intaglio.base import nest, origins
from intaglio.ir.graph import SymbolicTensor
from intaglio.ops.array.scattering import TensorScatter
from intaglio.type_specs.grown_list import GrownList
from intaglio.type_specs.tensor_array import TensorArray


def text_of(value: Any, source: str, printed: bool = False) -> Any:
    """`value`, which becomes part of a string; warns if it is a tensor without a value yet.

    A Python `print` during the trace is no mistake outside of staged blocks.
    """
    if _is_symbolic(value) and not (printed and not is_watched()):
        _warn(
            f"the text of `{source}` is made while the function is traced, when it is a symbolic "
            f"tensor without a value: the string holds {str(value)!r}. Write "
            f"tf.strings.format('{{}}', {source}) for a string tensor with the value, or "
            f"tf.print({source}) to see it."
        )
    unconverted_reads.implicit(value, "__format__", "__str__", "__repr__")
    return value


def print_(*values: Any, **options: Any) -> None:
    """`print(...)`; warns in staged blocks, where it runs once while they are traced."""
    if is_watched() and any(map(_is_symbolic, values)):
        _warn(
            "print runs once, while the staged loop or branch around it is traced, and shows a "
            "symbolic tensor. Write tf.print to print its value each time."
        )
    print(*values, **options)


def _text_by(function: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            text_of(args[0], "x")
        return function(*args, **kwargs)

    return call


OVERLOADS: dict[Any, Callable[..., Any]] = {
    print: print_,
    **{f: _text_by(f) for f in (str, repr, format)},
}


def unused(result: Any, source: str) -> Any:
    """The unused result of a call. Raises ValueError if the call has no effect either."""
    method = source.partition("(")[0]
    owner, _, name = method.rpartition(".")
    if type(result) is TensorArray and is_staged(result.flow) and not is_strict():
        raise ValueError(
            f"the result of `{source}` is not used. In a graph a TensorArray does not change: "
            f"{name} gives a new one. Write `{owner} = {source}`."
        )
    if type(result) is SymbolicTensor and isinstance(result.node.op, TensorScatter):
        _warn(
            f"the result of `{source}` is not used: {name} changes no tensor, it gives a new one. "
            "Assign it to a name, or use a tf.Variable and its scatter methods."
        )
    return result


_TAKEN = (
    "an item of this {} is taken in a staged loop or branch, which is traced once, whatever the condition "
    "is and however many iterations there are. Take the items before the block, or iterate over a tensor or a "
    "tf.data.Dataset."
)


def taking(iterator: Any) -> None:
    """Reports that a staged block takes an item of a Python iterator only once, while it is traced.

    Raises TypeError for what the trace has created or received; warns of what is older.
    """
    kind = type(iterator)
    note_advance(iterator)
    if not is_watched() or in_block(iterator) or not isinstance(iterator, Iterator):
        return
    if kind.__module__.startswith("intaglio."):
        return
    if provenance.of(iterator) is not Provenance.OLDER:
        raise TypeError(_TAKEN.format(kind.__name__))
    _warn(_TAKEN.format(kind.__name__))


def next_(iterator: Any, *default: Any) -> Any:
    """`next(...)`. Raises TypeError for what is no part of the staged block around it."""
    taking(iterator)
    return builtin_functions.OVERLOADS[next](iterator, *default)


OVERLOADS[next] = next_


def _is_symbolic(value: Any) -> bool:
    return type(value) in (SymbolicTensor, GrownList) or (
        isinstance(value, (tuple, list, dict))
        and any(type(v) is SymbolicTensor for v in nest.flatten(value))
    )


def _warn(message: str) -> None:
    """A warning at the user's line, once for the line."""
    frame = sys._getframe(2)
    while origins.is_ours(frame.f_code) and frame.f_back is not None:
        frame = frame.f_back
    warn_at(frame.f_code.co_filename, frame.f_lineno, message)
