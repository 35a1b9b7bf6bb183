"""Recursion on tensors: a call of the function being traced becomes a call of its graph.

TensorFlow documents that recursion on tensors does not end, and so it is by default. Under
`recursion()` a function that is traced may call itself with arguments of the same types. At
first nothing is known of what such a call returns, and the path that leads to it counts as
one without an end; the other paths determine what the function returns. It is then traced again
with that, until what it returns is what was assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from intaglio.autograph import recursive_calls
from intaglio.autograph.regions import Unreachable
from intaglio.base import shapes
from intaglio.base.threads import Inherited
from intaglio.function.hooks import HOOKS
from intaglio.ir.recursive_graph import RecursiveGraph
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.trace import stand_ins
from intaglio.trace.stand_ins import MAX_RECURSION_CALLS, stand_in

# Number of traces after which shapes that still change are left open, and after which tracing fails.
TRACES_BEFORE_OPEN_SHAPES = 3
MAX_TRACES = 6


class _State(Inherited):
    def __init__(self) -> None:
        self.limit: int | None = None
        self.traces: list[Unfinished] = []


_state = _State()


@contextmanager
def recursion(limit: int = MAX_RECURSION_CALLS) -> Generator[None]:
    """Lets functions traced in the block call themselves with tensors, up to a depth of `limit`.

    Gradients go through such calls, of any order. Each level of the gradient computes the
    function's value again, so that a chain of calls costs its length squared.

        with intaglio.recursion():
            factorial(tf.constant(5))
    """
    outer, _state.limit = _state.limit, limit
    tracer = recursive_calls.set_tracer(HOOKS.trace_recursive)
    try:
        yield
    finally:
        _state.limit = outer
        recursive_calls.set_tracer(tracer)


def allowed() -> bool:
    """True where a function may call itself."""
    return _state.limit is not None


class Unknown(Unreachable):
    """A recursive call whose result is not known yet: the path to it has no end so far."""


class Unfinished:
    """A trace in progress, and the assumed type of its result."""

    def __init__(self, owner: Any, key: Any, name: str, limit: int) -> None:
        self.owner = owner
        self.key = key
        self.name = name
        self.limit = limit
        self.used = False
        self.assumed: Any = None
        self.dims: list[Any] = []
        self.captures: list[Tensor] = []
        self.reference: RecursiveGraph | None = None
        self.rounds = 0

    def call(self, tensors: Sequence[Tensor]) -> Any:
        """The result of a recursive call."""
        self.used = True
        if self.reference is None:
            raise Unknown
        inputs = [*tensors, *self.captures]
        return self.assumed.pack(stand_ins.call(self.reference, inputs))

    def holds(self, concrete: Any) -> bool:
        """True if the trace has the type that was assumed; resolves its recursive calls then."""
        outputs = concrete.frozen.outputs
        captures = concrete.captured_inputs
        if self.reference is None or len(outputs) != len(self.dims):
            return False
        if [id(t) for t in captures] != [id(t) for t in self.captures]:
            return False
        alike = zip(outputs, self.reference.outputs, self.dims, strict=True)
        if not all([a.dtype is b.dtype and shapes.is_subshape(a.dims, d) for a, b, d in alike]):
            return False
        graph = concrete.frozen
        self.reference.resolve(lambda: graph, interpreter.repeated)
        return True

    def assume(self, concrete: Any) -> None:
        """Assumes that the next trace returns and captures what this one did."""
        self.rounds += 1
        outputs = concrete.frozen.outputs
        dims = [v.dims for v in outputs]
        if len(dims) == len(self.dims):
            dims = [shapes.join(a, b) for a, b in zip(dims, self.dims, strict=True)]
        if self.rounds >= TRACES_BEFORE_OPEN_SHAPES:
            dims = [d and (None,) * len(d) for d in dims]
        self.assumed, self.dims = concrete, dims
        self.captures = list(concrete.captured_inputs)
        self.reference = stand_in(
            concrete.frozen.name,
            [(v.dtype, v.dims, v.spec.value) for v in concrete.frozen.inputs],
            [(v.dtype, d) for v, d in zip(outputs, dims, strict=True)],
            self.limit,
        )


def in_progress(owner: Any, key: Any) -> Unfinished | None:
    """The unfinished trace that a call with this key refers to, or None."""
    for trace in reversed(_state.traces):
        if trace.owner is owner and trace.key == key:
            return trace
    return None


def provisional() -> bool:
    """True while a trace relies on assumptions about an outer one."""
    return any(trace.used for trace in _state.traces)


def trace_to_fixpoint(owner: Any, key: Any, name: str, trace: Callable[[], Any]) -> Any:
    """The trace of a function that may call itself; traced again until assumptions hold.

    Raises RecursionError if every path through the function leads to a call of itself, or if
    what it returns continues changing.
    """
    if _state.limit is None:
        return trace()
    unfinished = Unfinished(owner, key, name, _state.limit)
    _state.traces.append(unfinished)
    try:
        for _ in range(MAX_TRACES):
            unfinished.used = False
            concrete = trace()
            if not unfinished.used or unfinished.holds(concrete):
                return concrete
            unfinished.assume(concrete)
    except Unknown:
        if any(outer.used for outer in _state.traces[:-1]):
            raise
        raise RecursionError(
            f"every way through `{name}` leads to a call of itself: it needs an `if` on a tensor with a "
            "branch that returns without one."
        ) from None
    finally:
        _state.traces.remove(unfinished)
    raise RecursionError(
        f"what `{name}` returns goes on changing as it calls itself: the branches that call it and "
        "those that do not must return the same structure and dtypes."
    )
