"""`intaglio.verify`: a call run eagerly, as a graph, optimised and as machine code, and compared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from intaglio import native
from intaglio.base.log import logger
from intaglio.base.origins import Frame
from intaglio.debugging.comparison import Difference, Scatter, disagreeing
from intaglio.debugging.eager_record import EagerRun
from intaglio.debugging.localization import FirstWrong
from intaglio.debugging.repeatable import RepeatableCall, as_function, line_of, refusal
from intaglio.function import control
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Rewriter, copied, map_attached
from intaglio.optimize.pipeline import optimize
from intaglio.runtime import interpreter
from intaglio.runtime.call_state import contents

Run = Callable[..., Sequence[Any]]

EAGER, GRAPH, OPTIMIZED, NATIVE = "eager", "graph", "optimized graph", "machine code"


class VerificationError(AssertionError):
    """The ways to run a call do not agree. `verification` has what was compared."""

    def __init__(self, verification: Verification) -> None:
        super().__init__(str(verification))
        self.verification = verification


class Verification:
    """What the ways to run one call gave.

    `modes` are those that were run, `left_out` the others with the reason; `differences` has one for each
    mode that disagrees, the first op and the user's line in it. `result` is the call's, as it was run
    eagerly. True if all modes agree.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.result: Any = None
        self.modes: list[str] = []
        self.left_out: dict[str, str] = {}
        self.differences: list[Difference] = []

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        left = [f"  {mode}: not run, for {why}" for mode, why in self.left_out.items()]
        if self:
            modes = f"{', '.join(self.modes[:-1])} and {self.modes[-1]}"
            return "\n".join([f"{self.name}: {modes} agree", *left])
        return "\n".join([f"{self.name}:", *[f"  {d}" for d in self.differences], *left])

    __repr__ = __str__


def verify(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Runs a call eagerly, as a graph, as an optimized graph and as machine code, and compares the results.

    `verify(f, *args)` returns a `Verification`: true if all agree, else with the first op that differs and the user's
    line. `verify(f)` is a function that verifies each call: it returns f's result, or raises
    VerificationError. `with intaglio.stance("verify"):` does that with the calls of all functions.

    Results, and the variables that are written, may differ as far as rounding explains (docs/trust.md); integers and
    strings may not. Between the runs variables and random streams are what they were before, and random ops of the
    graph get the numbers that were drawn eagerly. Afterwards the variables are as the eager run left
    them. Python's own side effects happen once in the eager run, and once if the call traces.

    A function that was traced with Python values that have changed differs: `intaglio.captures` names them.
    Raises TypeError for what is not callable, ValueError for a function that cannot be run several times:
    it calls Python, writes files or tables, or reads a dataset.

    >>> f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x)))
    >>> bool(intaglio.verify(f, tf.constant([1.0, 2.0])))
    True
    >>> float(intaglio.verify(f)(tf.constant([0.0])))
    0.0
    """
    traced = as_function(function)
    if args or kwargs:
        return verified(traced, args, kwargs)

    @functools.wraps(traced.python_function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        return INTERCEPTOR.call(traced, args, kwargs)

    return checked


class _Verifying:
    """Carries out calls with `verify`."""

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call's result. Raises VerificationError."""
        verification = verified(function, args, kwargs)
        if not verification:
            raise VerificationError(verification)
        return verification.result


INTERCEPTOR = _Verifying()


class NotRepeatableError(ValueError):
    """A function cannot be run several times: it does something outside of its graph."""


# The functions whose calls were not verified, which was logged.
_left_out: set[str] = set()


def verified_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call under `stance("verify")`; of a function that cannot be run several times a plain one."""
    try:
        return INTERCEPTOR.call(function, args, kwargs)
    except NotRepeatableError as e:
        if function.name not in _left_out:
            _left_out.add(function.name)
            logger().warning('stance("verify"): %s', e)
    with control.stance("default"):
        return function(*args, **kwargs)


def verified(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Verification:
    """A call, verified."""
    with control.uncontrolled():
        call = RepeatableCall(function, args, kwargs)
        why = refusal(call.graph)
        if why:
            raise NotRepeatableError(
                f"verify runs {function.name} several times, which would do more than once what it does outside of "
                f"the graph: {why}. Verify a function without it."
            )
        return _Comparison(call).verification


class _Comparison:
    """Runs the modes one after the other, and compares each with the one before it that counts."""

    def __init__(self, call: RepeatableCall) -> None:
        self.call = call
        self.verification = found = Verification(call.function.name)
        self.eager = EagerRun(call)
        found.modes.append(EAGER)
        after = contents(call.arrays)
        call.state.restore()
        try:
            self._compare_graph(after)
        finally:
            call.state.rewind()
            for variable, array in zip(call.variables_of_runs, after, strict=True):
                variable.assign(array)
        if self.eager.error is not None and not found.differences:
            raise self.eager.error
        found.result = self.eager.result

    def _compare_graph(self, after: list[Any]) -> None:
        call, found = self.call, self.verification
        found.modes.append(GRAPH)
        try:
            results = call.state.run(self.eager.drawing(call.graph))
        except Exception as e:
            if type(e) is not type(self.eager.error):
                self._add(GRAPH, EAGER, "the call", self.eager.error or None, e)
            return
        if self.eager.error is not None:
            self._add(GRAPH, EAGER, "the call", self.eager.error, None)
            return
        expected = [*self.eager.arrays, *after]
        if len(expected) != len(results):
            shown = (
                f"the call gave {len(results)} tensors and variables, and {len(expected)} eagerly:"
            )
            self._add(GRAPH, EAGER, shown, None, None)
            return
        # The graph scatters about its own results.
        wrong = disagreeing(results, expected, Scatter(call, self.eager.drawing))
        if wrong is not None:
            self._add(
                GRAPH,
                EAGER,
                call.name_of_result(wrong),
                expected[wrong],
                results[wrong],
                self.eager.first_unlike(call),
            )
        self._compare_lowered()

    def _compare_lowered(self) -> None:
        """The optimised graph and machine code, each against the graph as it was traced."""
        call = self.call
        expected = call.state.run(interpreter.compiled(call.graph))
        scatter = Scatter(call, interpreter.compiled)
        for mode, make in ((OPTIMIZED, optimized), (NATIVE, machine_code)):
            if mode == NATIVE and not self._may_compile():
                continue
            self.verification.modes.append(mode)
            try:
                results = call.state.run(make(copied(call.graph)))
            except ImportError as e:
                self.verification.modes.pop()
                self.verification.left_out[mode] = f"there is no compiler ({e})"
                continue
            except Exception as e:
                self._add(mode, GRAPH, "the call", None, e)
                continue
            wrong = disagreeing(expected, results, scatter)
            if wrong is not None:
                place = FirstWrong(call, make).node(wrong)
                what = call.name_of_result(wrong)
                if place is None or place[1] is None or isinstance(place[2], Exception):
                    node = None if place is None else place[0]
                    self._add(mode, GRAPH, what, expected[wrong], results[wrong], node)
                else:
                    self._add(mode, GRAPH, what, place[1], place[2], place[0])
                return

    def _may_compile(self) -> bool:
        if self.call.concrete.jit_compile is False:
            self.verification.left_out[NATIVE] = "jit_compile=False forbids it"
            return False
        return True

    def _add(
        self,
        mode: str,
        reference: str,
        what: str,
        expected: Any,
        got: Any,
        node: Node | None = None,
    ) -> None:
        where: Frame | None = None if node is None else line_of(node)
        op = "" if node is None else node.op.name
        self.verification.differences.append(
            Difference(mode, reference, what, expected, got, op, where)
        )


def optimized(graph: Graph) -> Run:
    """The graph after the optimizer, interpreted."""
    return interpreter.compiled(optimize(graph))


def machine_code(graph: Graph) -> Run:
    """The graph as machine code, as far as there is any for it."""
    return native.compiled(optimize(without_prints(graph)))


def without_prints(graph: Graph) -> Graph:
    """The graph without ops that print: another run of it repeats no text."""
    graph = map_attached(graph, lambda node, name, inner: without_prints(inner))
    if not any(n.op.reaches_outside == "prints" for n in graph.nodes):
        return graph
    new = Rewriter(graph)
    for node in graph.nodes:
        if node.op.reaches_outside == "prints" and not node.outputs:
            new.drop(node)
        else:
            new.keep(node)
    return new.result()
