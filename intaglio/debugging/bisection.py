"""`intaglio.bisect`: which rewrite of which pass makes a call's results wrong.

All passes of the optimizer and of the compiler ask for fuel before each rewrite (`ir/passes.py`). With one tank for all of
them the rewrites of a compilation have an order: the smallest amount that gives a wrong result ends with the rewrite
that is to blame. Its nodes and lines are what differs between the pass's results with and without it. Where results are
wrong without any rewrite, the lowering of an op is to blame, which is found by compiling parts of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base.origins import Frame
from intaglio.debugging.comparison import Difference, Scatter, disagreeing
from intaglio.debugging.localization import FirstWrong
from intaglio.debugging.repeatable import RepeatableCall, as_function, line_of, refusal
from intaglio.debugging.verification import GRAPH, NATIVE, OPTIMIZED, machine_code, optimized
from intaglio.function import control
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Meter, copied, metered
from intaglio.runtime import interpreter

# More rewrites than any compilation has.
UNLIMITED = 1 << 60
# How many nodes a culprit names at most.
MAX_NAMED = 4

Run = Callable[..., Sequence[Any]]


class Culprit:
    """What makes a result wrong.

    `stage` is `"optimizer"`, `"compiler"` or `"lowering"`, `step` the name of the pass, or the op whose lowering it
    is, `rewrite` the number of the rewrite in the pass, from 1 on, and `total` the number of the last rewrite that may
    happen if the result is to be right. `before` and `after` are the nodes that it replaced and made, `lines` the user's
    lines of these; `difference` is what the result is, and should be.
    """

    def __init__(self, difference: Difference, stage: str, step: str) -> None:
        self.difference = difference
        self.stage, self.step = stage, step
        self.rewrite = 0
        self.total = 0
        self.before: list[str] = []
        self.after: list[str] = []
        self.lines: list[Frame] = []

    def __str__(self) -> str:
        lines = [f"    {f.short}: {f.source}" for f in self.lines]
        if self.stage == "lowering":
            head = f"the machine code of {self.step} is wrong without any rewrite"
        else:
            head = f"rewrite {self.rewrite} of the pass {self.step!r} of the {self.stage}"
            lines.append(f"    {_named(self.before)} became {_named(self.after)}")
            lines.append(f"    the rewrites before it, {self.total} in all, are right")
        return "\n".join([head, *lines, f"  {self.difference}"])

    __repr__ = __str__


def _named(nodes: list[str]) -> str:
    more = f" and {len(nodes) - MAX_NAMED} others" if len(nodes) > MAX_NAMED else ""
    return (", ".join(nodes[:MAX_NAMED]) or "nothing") + more


def bisect(function: Any, *args: Any, **kwargs: Any) -> Culprit | None:
    """Finds the rewrite, of the optimizer or of the compiler, that makes the results of a call wrong.

    None if there is none: the optimized graph and machine code give what the graph as it was traced gives, but for
    rounding (the rule of `verify`). Else the `Culprit` names the pass, the nodes and the user's lines, or the op whose
    lowering to machine code is wrong. The graph is compiled once for each step of the search, some ten to thirty
    times, and run on copies of the variables: the call has no effects.

    INTAGLIO_DUMP=folder writes the graphs of all passes, to look at the one before. Raises TypeError for what is not
    callable, ValueError for a function that cannot be run several times, and what the call raises.

    >>> f = tf.function(lambda x: tf.nn.relu(x) * 2.0)
    >>> print(intaglio.bisect(f, tf.constant([1.0, -2.0])))
    None
    """
    traced = as_function(function)
    with control.uncontrolled():
        call = RepeatableCall(traced, args, kwargs)
        why = refusal(call.graph)
        if why:
            raise ValueError(
                f"bisect runs {traced.name} several times, which would do more than once what it does outside of "
                f"the graph: {why}. Bisect a function without it."
            )
        try:
            return _Search(call).culprit()
        finally:
            call.state.rewind()


class _Log(Meter):
    """A meter that knows which pass burned its last fuel, and what that made of the graph."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.steps: list[tuple[str, str, Graph, Graph]] = []
        self.guilty: tuple[int, int] | None = None  # the step, and the number of its rewrite

    def step(self, stage: str, name: str, before: Graph, after: Graph, spent: int) -> None:
        # Steps of nested graphs come first: theirs is the last fuel then.
        if self.guilty is None and spent < self.limit <= self.spent:
            self.guilty = len(self.steps), self.limit - spent
        self.steps.append((stage, name, before, after))


class _Search:
    """The search for the smallest number of rewrites that gives a wrong result."""

    def __init__(self, call: RepeatableCall) -> None:
        self.call = call
        self.expected = call.state.run(interpreter.compiled(call.graph))
        self.scatter = Scatter(call, interpreter.compiled)

    def culprit(self) -> Culprit | None:
        for mode, make in ((OPTIMIZED, optimized), (NATIVE, machine_code)):
            if mode == NATIVE and self.call.concrete.jit_compile is False:
                continue
            log = _Log(UNLIMITED)
            try:
                wrong = self._wrong(make, log)
            except ImportError:  # there is no compiler
                continue
            if wrong is not None:
                return self._found(mode, make, log.spent)
        return None

    def _found(self, mode: str, make: Callable[[Graph], Run], most: int) -> Culprit:
        low, high = -1, most  # right, as far as is known, and wrong
        while high - low > 1:
            middle = (low + high) // 2
            if self._wrong(make, _Log(middle)) is None:
                low = middle
            else:
                high = middle
        log = _Log(high)
        wrong = self._wrong(make, log)
        assert wrong is not None
        index, results = wrong
        got = results[index] if isinstance(results, list) else results
        what = self.call.name_of_result(index)
        difference = Difference(mode, GRAPH, what, self.expected[index], got)
        if not high or log.guilty is None:
            return self._lowering(difference, make, index)
        return self._rewrite(difference, make, log, high)

    def _rewrite(
        self, difference: Difference, make: Callable[[Graph], Run], log: _Log, number: int
    ) -> Culprit:
        """The culprit that the last rewrite of a run is; it is compared with a run without that one."""
        assert log.guilty is not None
        step, rewrite = log.guilty
        without = _Log(number - 1)
        self._wrong(make, without)
        stage, name, _, after = log.steps[step]
        found = Culprit(difference, "compiler" if stage else "optimizer", name)
        found.rewrite, found.total = rewrite, number - 1
        if step < len(without.steps):
            gone, new = _changed(without.steps[step][3], after)
            found.before, found.after = [[n.op.name for n in nodes] for nodes in (gone, new)]
            lines = [f for n in (*gone, *new) if (f := line_of(n)) is not None]
            found.lines = list(dict.fromkeys(lines))
        return found

    def _lowering(
        self, difference: Difference, make: Callable[[Graph], Run], index: int
    ) -> Culprit:
        def without_rewrites(graph: Graph) -> Run:
            with metered(Meter(0)):
                return make(graph)

        place = FirstWrong(self.call, without_rewrites).node(index)
        if place is None:
            return Culprit(difference, "lowering", "the graph")
        node, expected, got = place
        found = Culprit(difference._replace(expected=expected, got=got), "lowering", node.op.name)
        found.lines = [f for f in [line_of(node)] if f is not None]
        return found

    def _wrong(self, make: Callable[[Graph], Run], meter: Meter) -> tuple[int, Any] | None:
        """The first wrong result with so much fuel, and all of them, or the error; None if all are right."""
        try:
            with metered(meter):
                run = make(copied(self.call.graph))
            results = self.call.state.run(run)
        except ImportError:
            raise
        except Exception as e:
            return 0, e
        wrong = disagreeing(self.expected, results, self.scatter)
        return None if wrong is None else (wrong, results)


def _changed(before: Graph, after: Graph) -> tuple[list[Node], list[Node]]:
    """The nodes that only the first graph has, and those that only the second has."""
    old = {_signature(n) for n in before.nodes}
    new = {_signature(n) for n in after.nodes}
    gone = [n for n in before.nodes if _signature(n) not in new]
    added = [n for n in after.nodes if _signature(n) not in old]
    # Users of a value that was replaced have other inputs, and are the same otherwise.
    users = {(n.name, n.op.name) for n in gone} & {(n.name, n.op.name) for n in added}
    replaced = [n for n in gone if (n.name, n.op.name) not in users]
    replacing = [n for n in added if (n.name, n.op.name) not in users]
    return (replaced or gone), (replacing or added)


def _signature(node: Node) -> tuple[Any, ...]:
    return node.op.name, node.name, tuple([(v.node.name, v.index) for v in node.inputs])
