"""Branches and loops: ops that run graphs, and NoOp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import ALL
from intaglio.base.errors import ShapeError, invalid_argument, note_step
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.graph_arguments import check_arguments, check_results

# An attribute of loops: how often they run, where that is known before.
KNOWN_TRIP_COUNT = "_known_trip_count"


def holds(condition: Any) -> bool:
    """What an array means as a condition: a scalar its value, another whether it has elements."""
    if condition.ndim:
        return condition.size > 0
    value = condition[()]
    return bool(value)


def joined(specs: Sequence[Spec], declared_dims: Any) -> Spec:
    """The spec that is valid for the results of all of several graphs."""
    first = specs[0]
    if any(s.dtype is not first.dtype for s in specs[1:]):
        kinds = ", ".join(s.dtype.name for s in specs)
        raise ShapeError(f"Branches disagree on the type of an output: {kinds}")
    dims = first.shape
    for spec in specs[1:]:
        dims = shapes.join(dims, spec.shape)
    if declared_dims is not None:
        dims = shapes.merge(dims, declared_dims)
    contents = first.value if isinstance(first.value, Spec) else None
    return Spec(first.dtype, dims, contents)


def branch_outputs(
    graphs: Sequence[Any], inputs: Sequence[Spec], types: Any, declared_dims: Any
) -> Any:
    """The specs of the outputs of an op that runs one of the graphs.

    `types` and `declared_dims` are the declared dtypes and shapes of the outputs; they may be empty.
    """
    for graph in graphs:
        check_arguments(graph, inputs, "Branch")
        check_results(graph, types, "Branch")
    counts = {len(g.outputs) for g in graphs}
    if len(counts) != 1:
        raise ShapeError(f"Branches have different numbers of outputs: {counts}")
    count = counts.pop()
    known = declared_dims or [None] * count
    if len(known) != count:
        raise ShapeError(f"Branches have {count} outputs, but {len(known)} shapes are declared")
    return [
        [
            joined(specs, dims)
            for specs, dims in zip(
                zip(*[g.output_specs for g in graphs], strict=True), known, strict=True
            )
        ]
    ]


class Branch(Op):
    """Runs `then_branch` or `else_branch` on the inputs."""

    signature = (
        "cond: Tcond, input: *Tin; then_branch: func, else_branch: func, Tout: list(type) = [],"
        " output_shapes: list(shape) = [] -> output: *Tout"
    )
    Tcond = ALL
    control_flow = "branch"
    native_exact = True

    def infer(self, input, then_branch, else_branch, Tout, output_shapes) -> Any:
        return branch_outputs((then_branch, else_branch), input, Tout, output_shapes)

    def kernel(self, cond, input, then_branch, else_branch, run):
        taken = holds(cond)
        graph = then_branch if taken else else_branch
        try:
            return run(graph, input)
        except Exception as e:
            note_step(e, f"in the {'main' if taken else 'else'} branch", graph)
            raise


@op
class If(Branch):
    """A choice of two graphs of which one has effects or reads state."""

    stateful = True


@op
class StatelessIf(Branch):
    """A choice of two graphs without effects."""


class IndexedBranch(Op):
    """Runs the branch of an index, or the last one if the index is out of bounds."""

    signature = (
        "branch_index: int32, input: *Tin; branches: list(func), Tout: list(type) = [],"
        " output_shapes: list(shape) = [] -> output: *Tout"
    )
    control_flow = "branch"
    native_exact = True

    def infer(self, input, branches, Tout, output_shapes) -> Any:
        if not branches:
            raise ShapeError("A choice needs at least one branch")
        return branch_outputs(branches, input, Tout, output_shapes)

    def kernel(self, branch_index, input, branches, run):
        index = int(branch_index)
        if not 0 <= index < len(branches):
            index = len(branches) - 1
        try:
            return run(branches[index], input)
        except Exception as e:
            note_step(e, f"in branch {index}", branches[index])
            raise


@op
class Case(IndexedBranch):
    """A choice of graphs of which one has effects or reads state."""

    stateful = True


@op
class StatelessCase(IndexedBranch):
    """A choice of graphs without effects."""


class Loop(Op):
    """Runs `body` on its own outputs as long as `cond` of them is true.

    The shapes of the body's inputs limit those of the loop variables.
    """

    signature = (
        "input: *T; cond: func, body: func, output_shapes: list(shape) = [],"
        " parallel_iterations: int = 10 -> output: *T"
    )
    control_flow = "loop"
    native_exact = True

    def infer(self, input, cond, body, output_shapes) -> Any:
        if not len(input) == len(body.inputs) == len(body.outputs) == len(cond.inputs):
            raise ShapeError(
                f"Loop body {body.name} takes {len(body.inputs)} and returns {len(body.outputs)} values, its condition "
                f"takes {len(cond.inputs)}, and {len(input)} were given"
            )
        check_arguments(body, input, "Loop body")
        check_arguments(cond, input, "Loop condition")
        check_arguments(body, body.output_specs, "The next iteration of loop body")
        if len(cond.outputs) != 1:
            raise ShapeError(f"Loop condition {cond.name} returns {len(cond.outputs)} values")
        known = output_shapes or [None] * len(input)
        if len(known) != len(input):
            raise ShapeError(f"A loop has {len(input)} values, but {len(known)} declared shapes")
        results: list[Spec] = []
        for wanted, dims in zip(body.input_specs, known, strict=True):
            shape = wanted.shape if dims is None else shapes.merge(wanted.shape, dims)
            contents = wanted.value if isinstance(wanted.value, Spec) else None
            results.append(Spec(wanted.dtype, shape, contents))
        return [results]

    def kernel(self, input, cond, body, run):
        state = input
        iteration = 0
        try:
            while True:
                condition = run(cond, state)[0]
                if condition.ndim:
                    raise _no_scalar(condition)
                if not condition[()]:
                    break
                state = run(body, state)
                iteration += 1
        except Exception as e:
            note_step(e, f"in iteration {iteration} of the loop", body)
            raise
        return state


def _no_scalar(condition: Any) -> Exception:
    shape = shapes.brackets(condition.shape)
    return invalid_argument(f"The condition of a loop must be a scalar, but it has shape {shape}")


@op
class While(Loop):
    """A loop with effects, or one that reads state."""

    stateful = True


@op
class StatelessWhile(Loop):
    """A loop without effects."""


@op
class NoOp(Op):
    """No effect; it is a target of control dependencies."""

    signature = " -> "
    stateful = True
    differentiable = False
    native_exact = True
    cheap = True
    free = True
    reported = False
    carries_strings = True

    def infer(self) -> None:
        return None

    def kernel(self):
        return None
