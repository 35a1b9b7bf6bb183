"""Staged `if`: both branches are recorded, and every name that they set becomes a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autograph import access_paths, reads, regions, unconverted_reads
from intaglio.autograph.blocks import Block
from intaglio.autograph.builtin_functions import tensor_of
from intaglio.autograph.hidden_state import stage_to_fixpoint
from intaglio.autograph.joins import Branch, agreed, joined, packed, tensors_of
from intaglio.autograph.names import is_flag
from intaglio.autograph.values import Undefined
from intaglio.base import dtypes, errors
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace import control_flow
from intaglio.type_specs.grown_list import GrownList

State = tuple[Any, ...]


def is_staged(value: Any) -> bool:
    """True for a tensor whose value decides only when the graph runs."""
    return type(value) is SymbolicTensor or (isinstance(value, Tensor) and not door.level().eager)


def decided(test: Any) -> Any:
    """The truth value of `test`: of a growing list, whether it has elements."""
    if type(test) is GrownList:
        return raw.Greater(test.size(), 0)
    reads.contents(test, access_paths.TRUTH)
    unconverted_reads.implicit(test, "__bool__", "__len__")
    return tensor_of(test)


# How to make TensorFlow's error from a message, for a condition of a wrong dtype and a wrong shape.
# It looks at those of `if` statements itself, and at others when it builds or runs an op.
STATEMENT = (ValueError, ValueError)
LOOP = (TypeError, errors.invalid_argument)
OPERATOR = (TypeError, errors.invalid_argument)
EXPRESSION = (errors.invalid_argument, errors.invalid_argument)


def check_condition(
    value: Any, what: str, kinds: tuple[Callable[[str], Exception], ...] = STATEMENT
) -> None:
    """Raises an error unless a staged condition is a bool that may have just one element."""
    is_bool = value.dtype is dtypes.bool_
    if not is_bool or any(d not in (1, None) for d in value.dims or ()):
        cast = "" if is_bool else "to use as boolean Tensor, use `tf.cast`; "
        raise kinds[is_bool](
            f"condition of {what} expected to be `tf.bool` scalar, got {value}; "
            f"{cast}to check for None, use `is not None`"
        )


def if_stmt(
    test: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    outputs: int,
) -> None:
    """An `if` statement. The first `outputs` of `names` are used after it.

    Raises ValueError and TypeError, naming the symbol, where the branches of a staged `if`
    do not agree on what they set.
    """
    test = decided(test)
    if is_staged(test):
        check_condition(test, "if statement")

        def stage(block: Block, bodies: Sequence[Any]) -> None:
            _staged(test, bodies, block, outputs)

        stage_to_fixpoint(stage, (body, orelse), get_state, set_state, names)
    elif test:
        body()
    else:
        orelse()


def _staged(test: Any, bodies: Sequence[Any], block: Block, named: int) -> None:
    """Records both branches; the first `named` of the block's own names are returned."""
    outputs = block.count(named)
    body, orelse = bodies
    get_state, set_state, names = block.get, block.put, block.names
    start = get_state()
    test = convert.to_tensor(test)

    def branch(label: str, part: str, run: Callable[[], None]) -> Branch:
        branch = Branch(label, run, control_flow.branch_graph("cond", part))
        set_state(_informed(start, names, test, label == "main"))
        with branch.graph.as_default():
            branch.ends = regions.ends(run)
            branch.end = get_state()[:outputs]
        return branch

    try:
        main, other = branch("main", "true", body), branch("else", "false", orelse)
        pairs = [
            joined(name, before, main, other, x, y)
            for name, before, x, y in zip(names, start, main.end, other.end, strict=False)
        ]
    finally:
        set_state(start)
    ends = [[p[0] for p in pairs], [p[1] for p in pairs]]
    results = iter(_recorded(test, (main, other), list(map(tensors_of, ends))))
    if not (main.ends or other.ends):
        raise regions.Unreachable
    final = [packed(value, results) for value in ends[0]]
    for i, (name, x, y) in enumerate(zip(names, main.end, other.end, strict=False)):
        if main.ends and other.ends and agreed(name, x, y):
            final[i] = x
    set_state((*final, *start[outputs:]))


def _informed(start: State, names: Sequence[str], test: Any, holds: bool) -> State:
    """The state at the start of a branch, in which the flag of `if not flag` is known."""
    node = test.node if type(test) is SymbolicTensor else None
    if node is None or node.op is not raw.LogicalNot:
        return start
    graph = getattr(node.graph, "captured", {})

    def tested(value: Any) -> bool:
        inside = graph.get(id(value), (None, None))[1]
        return value is node.inputs[0] or inside is node.inputs[0]

    return tuple(
        [not holds if is_flag(n) and tested(v) else v for n, v in zip(names, start, strict=True)]
    )


def _recorded(test: Any, branches: Sequence[Branch], flat: list[list[Any]]) -> Any:
    """The outputs of the If whose branches end in these tensors."""
    for branch, tensors in zip(branches, flat, strict=True):
        with branch.graph.as_default():
            control_flow.set_outputs(branch.graph, tensors)
        control_flow.hand_on_variables(branch.graph)
    return control_flow.choose(test, [b.graph for b in branches], "cond")


def staged_if_expression(
    test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], text: str
) -> Any:
    """A conditional expression, `and` or `or` on a symbolic test."""
    operator = text in ("and", "or")
    check_condition(test, f"`{text}` expression", OPERATOR if operator else EXPRESSION)
    box: list[Any] = [Undefined(text)]

    def run(value: Callable[[], Any]) -> Callable[[], None]:
        def assign() -> None:
            box[0] = value()

        return assign

    def stage(block: Block, bodies: Sequence[Any]) -> None:
        _staged(test, bodies, block, 1)

    stage_to_fixpoint(
        stage,
        (run(if_true), run(if_false)),
        lambda: (box[0],),
        lambda s: box.__setitem__(0, s[0]),
        (text,),
        (if_true, if_false),
    )
    return box[0]
