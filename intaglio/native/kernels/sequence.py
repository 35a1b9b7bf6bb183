"""Sequences of kernels as one function of arrays.

Native code calls their steps without Python: it needs the operands of each step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.options import OPTIONS
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.native.runtime.buffers import allocator
from intaglio.native.runtime.entry import Step, call_in_order
from intaglio.runtime.derived import DERIVED

Run = Callable[..., Any]


class Chain:
    """Steps on numbered values: first the arguments, then the results of all steps.

    `then` appends to `steps`; `result_numbers` are the numbers of the results. A chain that returns
    one value is a function to an array, one that returns a list a function to a list.
    """

    def __init__(self, arguments: int) -> None:
        self.steps: list[Step] = []
        self.result_numbers: Sequence[int] = ()
        self._single = True
        self._values = arguments
        self._calls: list[tuple[Step, list[Run], Sequence[Any]]] = []

    def then(
        self, run: Any, *takes: int | np.ndarray, shape: tuple[int, ...] | None = None
    ) -> list[int]:
        """Appends the steps of a function, on values or constant arrays; returns the numbers of its
        results. The last of them may have another `shape`."""
        numbers: list[Any] = [*takes]
        results: list[Any] = [*takes]
        for step in _shaped(run.steps, shape):
            taken = (
                [numbers[t] if isinstance(t, int) else t for t in step.operands]
                if step.operands is not None
                else results
            )
            results = list(range(self._values, self._values + len(step.results)))
            self._values += len(results)
            numbers += results
            self.steps.append(step._replace(operands=[*taken]))
            allocators = [allocator(shape, dtype) for shape, dtype in step.results]
            self._calls.append((step, allocators, [*taken]))
        result_numbers = getattr(run, "result_numbers", None)
        return results if result_numbers is None else [numbers[i] for i in result_numbers]

    def returning(self, result_numbers: int | Sequence[int]) -> Chain:
        """Sets the result: a value, or a list of values."""
        self._single = isinstance(result_numbers, int)
        self.result_numbers = (
            [result_numbers] if isinstance(result_numbers, int) else [*result_numbers]
        )
        return self

    def __call__(self, *arrays: Any) -> Any:
        values: list[Any] = [*arrays]
        for step, allocators, takes in self._calls:
            operands = [values[t] if isinstance(t, int) else t for t in takes]
            if step.cacheable:
                values.append(DERIVED.of(operands[0], step.kernel, step.run))
                continue
            outputs = [allocate() for allocate in allocators]
            if step.kernel(*operands, *outputs) is NotImplemented:
                call_in_order(step.kernel, operands, outputs)
            values += outputs
        if self._single:
            return values[self.result_numbers[0]]
        return [values[i] for i in self.result_numbers]


def _shaped(steps: Sequence[Step], shape: tuple[int, ...] | None) -> Sequence[Step]:
    """The steps with another shape of the last result."""
    if shape is None:
        return steps
    *before, (_, dtype) = steps[-1].results
    return [*steps[:-1], steps[-1]._replace(results=[*before, (shape, dtype)])]


class Taking:
    """A kernel of some of the arguments; `listed` returns its result in a list."""

    def __init__(self, run: Run, *takes: int, listed: bool = False) -> None:
        self.run = run
        self.takes = takes
        self._listed = listed

    def __call__(self, *arrays: Any) -> Any:
        results = self.run(*[arrays[i] for i in self.takes])
        return [results] if self._listed else results


def has_steps(run: Any) -> bool:
    """True if native code can call the steps of a function without Python."""
    run = getattr(run, "run", run)
    return isinstance(run, Rounding) or bool(getattr(run, "steps", None))


class Rounding:
    """A kernel with a faster and less accurate alternative, for programs that allow it.

    The faster one is compiled on first use.
    """

    def __init__(self, exact: Run, fast: Callable[[], Run]) -> None:
        self._exact = exact
        self._fast = fast

    def now(self) -> Run:
        """The alternative that the program's options select now."""
        return self._fast() if OPTIONS.tensor_float_32 else self._exact

    def within(self, chained: Callable[[Run], Run]) -> Rounding:
        """Applies a function to both alternatives, such as one that makes the kernel a step of a
        chain."""
        return Rounding(chained(self._exact), functools.cache(lambda: chained(self._fast())))

    def __call__(self, *arrays: Any) -> Any:
        return self.now()(*arrays)


def input_indices(body: Graph, *values: SymbolicTensor) -> list[int]:
    """The indices of values among the inputs of a kernel's graph; two may be the same."""
    found = {id(v): i for i, v in enumerate(body.inputs)}
    return [found[id(v)] for v in values]
