"""Loop variables without an initial value: their placeholders in a staged loop, and values after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autograph import regions
from intaglio.autograph.joins import is_data
from intaglio.autograph.names import is_flag
from intaglio.autograph.optional import RESULT, Maybe, known, placeholder
from intaglio.autograph.values import Undefined, UndefinedReturnValue, deletion
from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert
from intaglio.opdef.tensor import Tensor
from intaglio.trace.graph import FuncGraph

State = tuple[Any, ...]
NEVER_RUN = "loop must iterate at least once to initialize {}"


def is_open(value: Any) -> bool:
    """True for a value that no loop variable can have, such as Undefined."""
    return any(
        v is None or type(v) is Undefined or isinstance(v, UndefinedReturnValue)
        for v in nest.flatten(value)
    )


def completed(
    before: State,
    body: Callable[[], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
) -> tuple[State, set[str]]:
    """The state with a placeholder of the right type for each name without a value.

    The body runs in a graph that is thrown away, to see what it sets them to. Also returns
    the flags that it leaves as they are: they stay Python's.
    """
    state, fixed = before, set[str]()
    again = any(map(is_open, before))
    while again:
        initial = state
        state, fixed = _tried(initial, body, get_state, set_state, names)
        # Where the body tests a name for None, an iteration with a value takes other branches.
        pairs = zip(initial, state, strict=True)
        found = any([b is None and type(s) is Maybe for b, s in pairs])
        again = found and (bool(fixed) or any(map(is_open, state)))
    return state, fixed


def _tried(
    before: State,
    body: Callable[[], None],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
) -> tuple[State, set[str]]:
    try:
        graph = FuncGraph("loop_body")
        with graph.as_default():
            variables = [_as_variable(v, graph) for v in before]
            set_state(at_start_of_iteration(names, variables))
            ends = regions.ends(body)
            after = get_state()
    except UnboundLocalError as e:
        name = next(n for n, v in zip(names, before, strict=True) if is_open(v))
        raise ValueError(
            f"'{name}' must be defined before the loop\nNote: AutoGraph tried to define it "
            f"automatically, but ran into a UnboundLocalError: {e}"
        ) from None
    finally:
        set_state(before)
    known_names = list(zip(names, before, after, strict=True))
    fixed = {n for n, b, a in known_names if is_flag(n) and type(b) is bool and a is b}
    state = [_first(n, b, a, ends) if is_open(b) else b for n, b, a in known_names]
    return tuple(state), fixed


def _as_variable(value: Any, graph: FuncGraph) -> Any:
    """A value as it is in the loop, where numbers have become tensors that no iteration knows."""

    def unknown(leaf: Any) -> Any:
        if not is_data(leaf):
            return leaf
        tensor = convert.to_tensor(leaf)
        known_value = type(tensor) is SymbolicTensor and tensor.spec.value is not None
        if known_value and tensor.dtype.is_numpy_compatible:
            # The first iteration's number decides nothing: an index out of range, a condition.
            return graph.placeholder(tensor.dtype, tensor.dims, "state")
        return tensor

    return value if is_open(value) else nest.map_structure(unknown, value)


def _first(name: str, before: Any, after: Any, ends: bool) -> Any:
    """The value of the name before the first iteration, given its value after one."""
    if isinstance(before, UndefinedReturnValue):
        if isinstance(after, UndefinedReturnValue):
            return before
        return Maybe(_zeros(RESULT, known(after)), None, NEVER_RUN.format(RESULT))
    if not ends:
        return before
    if not (before is None or type(before) is Undefined):
        return _zeros(name, known(after))
    why = NEVER_RUN.format(name)
    return Maybe(_zeros(name, known(after)), convert.to_tensor(False), why)


def _zeros(name: str, value: Any) -> Any:
    """Zeros of the types that the body assigns to a name."""
    return placeholder(nest.map_structure(lambda v: _tensor(name, v), value))


def _tensor(name: str, leaf: Any) -> Any:
    """Raises ValueError for what no loop variable can be."""
    if name == RESULT and leaf is None:
        return None
    if type(leaf) is Undefined or leaf is None:
        kind = "is not allowed to be None" if leaf is None else "must be defined"
        raise ValueError(f"'{name}' {kind} before the loop")
    if isinstance(leaf, CompositeTensor) and not isinstance(leaf, Tensor):
        return leaf
    try:
        return convert.to_tensor(leaf)
    except (TypeError, ValueError):
        raise ValueError(
            f"'{name}' must be defined before the loop\nNote: AutoGraph tried to define it "
            "automatically, but ran into a TypeError: Found an unsupported type "
            f"'{type(leaf).__name__}' while creating placeholder for {leaf}. Supported "
            "types include Tensor, int, float, bool, list, tuple or dict."
        ) from None


def after_iteration(name: str, before: Any, after: Any) -> Any:
    """A name's value after the body, in the form that it had before the iteration.

    Raises ValueError where it has no value any more.
    """
    if type(before) is Maybe:
        if type(after) is Maybe:
            return after
        bit = None if before.present is None else convert.to_tensor(after is not None)
        became_none = after is None and bit is not None
        return Maybe(before.value if became_none else after, bit, before.why)
    leaves = nest.flatten(after)
    if any(v is None for v in leaves) and not any(v is None for v in nest.flatten(before)):
        raise ValueError(f"'{name}' is None at the end of the iteration.")
    if type(before) is not Undefined and any(type(v) is Undefined for v in leaves):
        cause = next(map(deletion, leaves))
        raise ValueError(f"'{name}' must be defined before the loop{cause}")
    return after


def at_start_of_iteration(names: Sequence[str], state: Sequence[Any]) -> State:
    """The state as an iteration begins: no jump has been taken yet, or there would be no iteration."""
    return tuple([False if is_flag(n) else v for n, v in zip(names, state, strict=True)])


def naming_numbers(
    body: Callable[[], None], names: Sequence[str], before: State
) -> Callable[[], None]:
    """The body, whose errors of dtypes name the Python numbers that the loop makes tensors of."""
    numbers = [(n, v) for n, v in zip(names, before, strict=True) if type(v) is int]
    if not numbers:
        return body

    def with_notes() -> None:
        try:
            body()
        except TypeError as e:
            if "int32" in str(e) and hasattr(e, "add_note"):
                for name, value in numbers:
                    e.add_note(
                        f"`{name}` is the Python number {value} before the loop, and an int32 tensor in it. If "
                        f"it is to hold other numbers, write `{name} = {float(value)}`."
                    )
            raise

    return with_notes
