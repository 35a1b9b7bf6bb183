"""What native code does with each op's samples: the modes in which they are run, and what stops them.

    python -m tests.native.reach

regenerates `without_code.json`: for each mode the ops without code, and the reasons why samples of
others have none. The tests compare it, so that none is left out unnoticed.
"""

from __future__ import annotations

import contextlib
import json
import pathlib

import numpy as np

from intaglio.base.dtypes import from_numpy
from intaglio.ir.graph import SymbolicTensor
from intaglio.native.analysis import sizes
from intaglio.native.kernels.elementwise import FusedKernel
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.passes.elementwise_fusion import can_compile
from intaglio.native.program import Program
from intaglio.native.runtime import entry
from intaglio.optimize.pipeline import optimize
from intaglio.trace.graph import record
from tests.native.exactness import assert_alike, foreseeable
from tests.ops import calls

PAGE = pathlib.Path(__file__).parent / "without_code.json"
# As one loop over inputs of any shape; as a program whose integers are constants, or inputs;
# as one whose values are in memory, shared by threads, however few elements they have.
NOTHING = "no sample has code"
WAYS = ("loop", "known", "data", "memory")


def samples_of(op: str):
    """The op's samples that succeed."""
    return [s for s in calls.samples_of(op) if not s.error]


def ops(way: str) -> list[str]:
    """The ops that are run in a mode."""
    ruled = [n for n in calls.NAMES if samples_of(n)]
    if way == "loop":
        return [n for n in ruled if "scalar" in calls.CATALOGUE[n].rules]
    return ruled


def run(sample, way: str):
    """The results of a sample's native code. Raises Unsupported if it has none."""
    if way == "loop":
        return _looped(sample)
    with _in_memory() if way == "memory" else contextlib.nullcontext():
        program, arrays = program_of(sample, way != "data")
        return program.run(*arrays)


@contextlib.contextmanager
def _in_memory():
    small, large = sizes.MAX_REGISTER_ELEMENTS, entry.MIN_PARALLEL_ELEMENTS
    sizes.MAX_REGISTER_ELEMENTS, entry.MIN_PARALLEL_ELEMENTS = 1, 2
    try:
        yield
    finally:
        sizes.MAX_REGISTER_ELEMENTS, entry.MIN_PARALLEL_ELEMENTS = small, large


def _looped(sample):
    """The sample's node as a loop over elements."""
    graph, arrays = graph_of(sample)
    reason = can_compile(graph.outputs[0].node)
    if reason:
        raise Unsupported(reason)
    return FusedKernel(graph)(*arrays)


def graph_of(sample):
    """The sample's call as a graph of inputs of unknown rank, and the inputs."""
    arrays = calls.flat(list(calls.inputs_of(sample).values()))
    specs = [(from_numpy(a.dtype), None, "x") for a in arrays]
    return _recorded(sample, specs, lambda tensors: list(tensors)), arrays


def program_of(sample, constants: bool):
    """The sample's call as a program, and the arrays that it takes."""
    arrays = calls.flat(list(calls.inputs_of(sample).values()))
    known = [constants and a.dtype.kind in "iu" for a in arrays]
    specs = [
        (from_numpy(a.dtype), a.shape, "x") for a, k in zip(arrays, known, strict=True) if not k
    ]

    def completed(tensors):
        given = iter(tensors)
        return [
            calls.CATALOGUE["Const"](value=a, dtype=from_numpy(a.dtype)) if k else next(given)
            for a, k in zip(arrays, known, strict=True)
        ]

    made = Program(optimize(_recorded(sample, specs, completed)))
    return made, [a for a, k in zip(arrays, known, strict=True) if not k]


def _recorded(sample, specs, completed):
    inputs = calls.inputs_of(sample)

    def function(*tensors):
        left = completed(tensors)
        values = {
            k: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for k, v in inputs.items()
        }
        return calls.call(sample, values)

    graph, outputs = record(function, sample.op, specs)
    graph.outputs.extend([t for t in outputs if isinstance(t, SymbolicTensor)])
    return graph.freeze_function()


def check(op: str, way: str) -> list[str]:
    """Compares all samples that have code with the kernel; gives the reasons why others have none.

    `NOTHING` is among them if no sample has code.
    """
    reasons, done = set[str](), 0
    for sample in samples_of(op):
        try:
            made = run(sample, way)
        except Unsupported as e:
            reasons.add(str(e))
            continue
        done += 1
        for mine, theirs in zip(made, calls.eager(sample), strict=True):
            assert np.asarray(mine).shape == np.shape(theirs), (sample, way)
            if foreseeable(sample):
                assert_alike(mine, theirs, sample)
    return [*sorted(reasons), *([] if done else [NOTHING])]


def recorded() -> dict[str, dict[str, list[str]]]:
    """The content of the page: for each mode the ops and their reasons."""
    page = json.loads(PAGE.read_text())
    return {
        way: {
            **{op: [op, NOTHING] for op in page["ops without a rule"]},
            **page["what stops some samples"][way],
        }
        for way in WAYS
    }


def main() -> None:
    """Writes the page."""
    found = {way: {op: reasons for op in ops(way) if (reasons := check(op, way))} for way in WAYS}
    without = sorted(
        op
        for op in ops("data")
        if all(found[way].get(op) == [op, NOTHING] for way in WAYS if op in ops(way))
    )
    some = {
        way: {op: r for op, r in reasons.items() if op not in without}
        for way, reasons in found.items()
    }
    page = {"ops without a rule": without, "what stops some samples": some}
    PAGE.write_text(json.dumps(page, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
