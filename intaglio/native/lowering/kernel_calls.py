"""Calls of kernels of other modules from a native function: their steps, with its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.kernels.sequence import Rounding
from intaglio.native.llvm.vectors import Unsupported, kind_of
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand, constant
from intaglio.native.runtime.entry import Step


def stepped(
    w: FunctionLowering, node: Node, run: Any, inputs: Sequence[ArrayOperand]
) -> list[ArrayOperand]:
    """The node's results by a kernel that takes the inputs it names.

    They are the node's first outputs if the kernel returns fewer. Raises Unsupported if there is no
    kernel, or if it does more than to call machine code.
    """
    takes = getattr(run, "takes", range(len(inputs)))
    run = getattr(run, "run", run)
    if isinstance(run, Rounding):
        w.rounds = True
        run = run.now()
    if not getattr(run, "steps", None):
        raise Unsupported(f"{node.op.name} of {', '.join([str(h.shape) for h in inputs])}")
    pointers = [w.pointer(inputs[i]) for i in takes]
    buffers = _result_buffers(w, node, run, len(pointers))
    call_steps(w, run, pointers, {number: there.pointer for number, there in buffers.items()})
    return list(buffers.values())


def call_steps(
    w: FunctionLowering, run: Any, pointers: list[str], targets: Mapping[int, str]
) -> None:
    """Calls the steps of a kernel on pointers, to which those of their results are appended.

    `targets` are the pointers for some of the results, by their numbers; others are temporary.
    """
    positions = list(range(len(pointers)))
    for step in run.steps:
        taken = positions if step.operands is None else step.operands
        operands = [pointers[t] if isinstance(t, int) else w.pointer(constant(t)) for t in taken]
        positions = list(range(len(pointers), len(pointers) + len(step.results)))
        there = _kept(w, step, operands) if step.cacheable else ""
        if there:
            pointers.append(there)
            continue
        for number, (shape, dtype) in zip(positions, step.results, strict=True):
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            there = targets.get(number)
            pointers.append(w.scratch(size) if there is None else there)
        w.call_step(step, operands, [pointers[number] for number in positions])
    w.long = True
    w.how = "kernel"


def _kept(w: FunctionLowering, step: Step, pointers: Sequence[str]) -> str:
    """The pointer to a result that the caller keeps for a variable; "" for other operands."""
    (pointer,) = pointers
    return w.derived(step, pointer) if pointer in w.variables else ""


def _result_buffers(
    w: FunctionLowering, node: Node, run: Any, count: int
) -> dict[int, ArrayOperand]:
    """Memory for the node's outputs, by the numbers of the kernel's values."""
    results = [result for step in run.steps for result in step.results]
    last = len(run.steps[-1].results)
    result_numbers = getattr(
        run, "result_numbers", range(count + len(results) - last, count + len(results))
    )
    return {
        number: w.allocate(value, kind_of(results[number - count][1]), results[number - count][0])
        for value, number in zip(node.outputs, result_numbers, strict=False)
    }
