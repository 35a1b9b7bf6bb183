"""Assertions of a program: what fails first is a value that the program computes, and the host reads after it.

XLA programs do not stop. So a check writes its number to the state where it is the first that fails, with
the data of its message. What comes after it writes no variable then, and loops end. When the program is done the
host raises the error of the node, from its own kernel.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from intaglio.ir.extraction import extracted
from intaglio.ir.graph import Graph, Node
from intaglio.runtime import interpreter
from intaglio.xla.state import FAILED, Cell, State
from intaglio.xla.transfers import fetched
from intaglio.xla.values import Untraceable, is_traced


class HostArgument:
    """An argument of a program that is no array, such as a text, while the program is traced."""

    def __init__(self, index: int) -> None:
        self.index = index


class Checks:
    """The checks of a program, which all its states share: each has a number, from 1."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._numbers: dict[Hashable, int] = {}
        # By number: the node, and what its kernel takes: known values, and cells for what is computed.
        self._found: list[tuple[Node, list[Any]]] = []

    @property
    def cells(self) -> list[Cell]:
        """What a program returns of its checks: which has failed, and the data of each."""
        parts = [p for _, operands in self._found for p in operands if isinstance(p, Cell)]
        return [FAILED, *parts]

    def add(self, state: State, node: Node, holds: Any, operands: Sequence[Any]) -> None:
        """A check of a node, whose kernel raises for `operands`, arrays of any form, unless `holds`."""
        if not is_traced(holds) and np.ndim(holds) == 0 and holds:
            return
        if np.ndim(holds):
            raise Untraceable("its condition is no scalar")
        number = self._number(node, operands)
        failed = state.read(FAILED)
        is_first = (failed == 0) & jnp.logical_not(holds)
        for cell, operand in zip(self._found[number - 1][1], operands, strict=True):
            if isinstance(cell, Cell):
                state.write(cell, jnp.where(is_first, operand, state.read(cell)))
        state.write(FAILED, jnp.where(is_first, np.int32(number), failed))

    def _number(self, node: Node, operands: Sequence[Any]) -> int:
        """The number of a check, which is one for all times that the program is traced."""
        forms = [
            (v.shape, v.dtype) if is_traced(v) else repr(np.asarray(v).tolist()) for v in operands
        ]
        key = (id(node), *forms)
        if key not in self._numbers:
            number = self._numbers[key] = len(self._found) + 1
            kept = [
                Cell(number, i, v.shape, v.dtype) if is_traced(v) else v
                for i, v in enumerate(operands)
            ]
            self._found.append((node, kept))
        return self._numbers[key]

    def verify(self, values: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Raises the error of the check that failed first, by what the program gave for `cells`."""
        number = int(fetched(values[0]))
        if not number:
            return
        of = dict(zip(self.cells, values, strict=True))
        node, kept = self._found[number - 1]
        operands = [_operand(part, of, arrays) for part in kept]
        by_value = dict(zip(map(id, node.inputs), operands, strict=True))
        alone, outer = extracted(self._graph, [node], [], self._graph.name, _never)
        interpreter.run_nodes(alone, *[by_value[id(v)] for v in outer])


def _operand(part: Any, of: dict[Cell, Any], arrays: Sequence[Any]) -> Any:
    if isinstance(part, Cell):
        return fetched(of[part])
    return arrays[part.index] if isinstance(part, HostArgument) else part


def _never(node: Node, index: int) -> bool:
    return False


__all__ = ["Checks", "HostArgument"]
