"""`if` on tensors: both branches are recorded, and every name they set becomes a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autograph.values import Undefined, UndefinedReturnValue
from intaglio.base import dtypes, nest
from intaglio.ir.graph import SymbolicTensor
from intaglio.op import convert, door
from intaglio.op.tensor import Tensor
from intaglio.trace import control_flow

State = tuple[Any, ...]


def is_staged(value: Any) -> bool:
    """True for a tensor whose value decides only when the graph runs."""
    return type(value) is SymbolicTensor or (
        isinstance(value, Tensor) and not door.level().eager
    )


def check_condition(value: Any, what: str) -> None:
    """Raises ValueError unless a staged condition is a bool scalar."""
    if value.dtype is not dtypes.bool_ or value.dims not in ((), None):
        raise ValueError(
            f"condition of {what} statement expected to be `tf.bool` scalar, got {value}; "
            "to use as boolean Tensor, use `tf.cast`; to check for None, use `is not None`"
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
    if is_staged(test):
        check_condition(test, "if")
        _staged(test, body, orelse, get_state, set_state, names, outputs)
    elif test:
        body()
    else:
        orelse()


def _staged(
    test: Any,
    body: Any,
    orelse: Any,
    get_state: Any,
    set_state: Any,
    names: Any,
    outputs: int,
) -> None:
    start = get_state()
    seen: dict[str, list[Any]] = {}

    def branch(run: Callable[[], None], label: str) -> Callable[[], list[Any]]:
        def record() -> list[Any]:
            set_state(start)
            run()
            end = list(get_state()[:outputs])
            seen[label] = [
                _checked(v, n, label) for v, n in zip(end, names, strict=False)
            ]
            if label == "else":
                _agree(names, seen["main"], seen["else"])
            return [t for v in seen[label] for t in _tensors(v)]

        return record

    try:
        results = iter(
            control_flow.cond(test, branch(body, "main"), branch(orelse, "else"))
        )
    finally:
        set_state(start)
    final = [_packed(value, results) for value in seen["main"]]
    set_state((*final, *start[outputs:]))


def _checked(value: Any, name: str, label: str) -> Any:
    """The value of a name at the end of a branch. Raises ValueError if there is none."""
    if isinstance(value, UndefinedReturnValue):
        raise ValueError(f"the {label} branch must also have a return statement.")
    for leaf in nest.flatten(value):
        if type(leaf) is Undefined:
            raise ValueError(f"'{name}' must also be initialized in the {label} branch")
        if leaf is None:
            raise ValueError(f"'{name}' is None at the end of the {label} branch.")
    return nest.map_structure(_as_tensor, value)


def _as_tensor(value: Any) -> Any:
    """Numbers and arrays as tensors; other Python values stay what they are."""
    if (
        isinstance(value, (bool, int, float, complex, str, bytes))
        or convert.dtype_of(value) is not None
    ):
        return convert.to_tensor(value)
    return value


def _tensors(value: Any) -> list[Any]:
    return [
        v for v in nest.flatten(value, expand_composites=True) if isinstance(v, Tensor)
    ]


def _packed(example: Any, results: Any) -> Any:
    flat = [
        next(results) if isinstance(v, Tensor) else v
        for v in nest.flatten(example, expand_composites=True)
    ]
    return nest.pack_sequence_as(example, flat, expand_composites=True)


def _agree(names: Sequence[str], main: list[Any], other: list[Any]) -> None:
    for name, a, b in zip(names, main, other, strict=False):
        try:
            nest.assert_same_structure(a, b, expand_composites=True)
        except (ValueError, TypeError) as e:
            raise TypeError(
                f"'{name}' must have the same nested structure in the main and else branches:\n\n{e}"
            ) from None
        leaves = zip(
            nest.flatten(a, expand_composites=True),
            nest.flatten(b, expand_composites=True),
            strict=True,
        )
        for x, y in leaves:
            if (
                isinstance(x, Tensor)
                and isinstance(y, Tensor)
                and x.dtype is not y.dtype
            ):
                raise TypeError(
                    f"'{name}' has dtype {x.dtype.name} in the main branch, "
                    f"but dtype {y.dtype.name} in the else branch"
                )


def staged_if_expression(
    test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], text: str
) -> Any:
    """A conditional expression, `and` or `or` on a symbolic test."""
    check_condition(test, f"`{text}` expression")
    box: list[Any] = [None]

    def run(value: Callable[[], Any]) -> Callable[[], None]:
        def assign() -> None:
            box[0] = value()

        return assign

    _staged(
        test,
        run(if_true),
        run(if_false),
        lambda: (box[0],),
        lambda s: box.__setitem__(0, s[0]),
        (text,),
        1,
    )
    return box[0]
