"""What an exporter knows of a value: its numbers, a name in the ONNX graph, or the variable behind a handle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from intaglio.base.shapes import Dims


class Unexportable(Exception):
    """ONNX has no expression for an op; the message is the reason."""


class Value(NamedTuple):
    """A value that the ONNX graph computes; `dims` of None are an unknown shape.

    A sequence has the dtype and the shape of its elements.
    """

    name: str
    dtype: np.dtype[Any]
    dims: Dims = None
    is_sequence: bool = False

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if it is unknown."""
        return None if self.dims is None else len(self.dims)


class ComplexValue(NamedTuple):
    """Complex numbers, which no operator takes: their real and imaginary parts, of one shape."""

    real: Any
    imag: Any

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the numbers."""
        return np.result_type(self.real.dtype, np.complex64)

    @property
    def dims(self) -> Dims:
        """The dimensions, None where they are open; None for an unknown rank."""
        return dims_of(self.real)

    @property
    def is_sequence(self) -> bool:
        """False: no list has complex numbers."""
        return False


class Variable(NamedTuple):
    """A handle of a variable, with its label and present value."""

    label: str
    array: np.ndarray


# Values are known arrays, or computed.
Operand = Any


def is_known(value: Operand) -> bool:
    """Whether the numbers are known while the model is written."""
    return isinstance(value, (np.ndarray, np.generic))


def is_complex(value: Operand) -> bool:
    """Whether the elements are complex numbers."""
    return isinstance(value, ComplexValue) or (is_known(value) and value.dtype.kind == "c")


def known(value: Operand, what: str) -> np.ndarray:
    """The numbers of a value. Raises Unexportable if the model computes them; `what` names the value."""
    if not is_known(value):
        raise Unexportable(f"{what} must be known when the model is written")
    return np.asarray(value)


def dims_of(value: Operand) -> Dims:
    """The dimensions, None where they are open; None for an unknown rank."""
    return value.shape if is_known(value) else value.dims


def rank_of(value: Operand, what: str = "the rank of an input") -> int:
    """The number of dimensions. Raises Unexportable if it is unknown."""
    dims = dims_of(value)
    if dims is None:
        raise Unexportable(f"{what} must be known when the model is written")
    return len(dims)
