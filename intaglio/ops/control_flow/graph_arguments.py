"""Checks of ops that run graphs: the inputs and outputs of a graph against operands and declared
types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import DType
from intaglio.base.errors import ShapeError
from intaglio.opdef.spec import Spec


def check_arguments(graph: Any, operands: Sequence[Spec], what: str) -> None:
    """Raises ShapeError unless the graph takes inputs of these specs.

    Machine code of a graph relies on the dtypes and shapes of its inputs. `what` names the graph in
    the message: "Function", "Branch".
    """
    wanted: Sequence[Spec] = graph.input_specs
    if len(wanted) != len(operands):
        raise ShapeError(
            f"{what} {graph.name} takes {len(wanted)} inputs but there are {len(operands)}"
        )
    for i, (spec, want) in enumerate(zip(operands, wanted, strict=True)):
        fault = _difference(spec, want)
        if fault:
            raise ShapeError(f"{what} {graph.name} takes {fault} as input {i}")


def check_results(graph: Any, declared: Sequence[DType], what: str) -> None:
    """Raises ShapeError unless the graph's outputs are of these dtypes, if any are declared."""
    found = [spec.dtype for spec in graph.output_specs]
    if declared and found != list(declared):
        returned, wanted = (", ".join([d.name for d in types]) for types in (found, declared))
        raise ShapeError(f"{what} {graph.name} returns {returned}, but {wanted} is declared")


def _difference(spec: Spec, wanted: Spec) -> str:
    """How a spec differs from the one that a graph was traced for; "" if it does not."""
    if spec.dtype is not wanted.dtype:
        return f"{wanted.dtype.name}, not {spec.dtype.name},"
    if not shapes.compatible(spec.shape, wanted.shape):
        return f"the shape {shapes.text(wanted.shape)}, not {shapes.text(spec.shape)},"
    if isinstance(spec.value, Spec) and isinstance(wanted.value, Spec):
        inside = _difference(spec.value, wanted.value)
        return f"a resource of {inside}" if inside else ""
    return ""
