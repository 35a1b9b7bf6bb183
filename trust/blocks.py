"""Compound statements of the compositions of `compositions.py`, each around a suite of drawn lines.

Each function appends its statements to a body, with the names that they define to `names`, and returns False
where they do not run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from trust.programs import Block, Function, Line, Statement

Env = dict[str, Any]
Body = list[Statement]
DECORATED = ["wrapped", "wrapped", "compiled"]


class Suite(NamedTuple):
    """Lines that compute `last` from `start`, which begins as `source` is."""

    source: str
    start: str
    body: Body
    last: str


class Drawing(Protocol):
    """What `compositions.Compose` has that blocks are drawn with."""

    random: Any
    dtype: Any
    stateful: bool
    empty: bool
    space: Env
    functions: list[Function]

    def name(self, letter: str = "x") -> str: ...
    def append(self, body: Body, envs: list[Env], new: Body, targets: list[str]) -> bool: ...
    def checked_write(self, source: str, envs: list[Env]) -> Line | None: ...


def _added(
    draw: Drawing, body: Body, envs: list[Env], names: list[str], new: Body, targets: list[str]
) -> bool:
    if not draw.append(body, envs, new, targets):
        return False
    names += targets
    return True


def _half(draw: Drawing) -> str:
    return "// 2" if draw.dtype.is_integer else "* .5"


def _heads(draw: Drawing, source: str, counter: str) -> str:
    """The head of a loop of few iterations, of the graph or of Python."""
    rng = draw.random
    return rng.choice(
        [
            f"for {counter} in tf.range({rng.randint(0, 3)}):",
            f"for {counter} in tf.range(tf.shape({source})[0] % 4):",
            f"for {counter} in range({rng.randint(1, 3)}):",
        ]
    )


def loop(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """A loop that carries a matrix; each iteration brings the result to its shape."""
    rng, state, source = draw.random, draw.name("s"), part.source
    suite: Body = [Line(part.start, state), *part.body]
    if draw.stateful and rng.random() < 0.5:
        write = draw.checked_write(source, envs)
        if write is not None:
            text = write.text.replace(source, part.start)
            suite.insert(rng.randint(1, len(suite)), Line("", text))
    if rng.random() < 0.4:
        leave = rng.choice(["break", "continue"])
        suite.append(Block([(f"if tf.reduce_sum({part.last}) > 5:", [Line("", leave)])]))
    suite.append(Line(state, f"like({part.last}, {state}) {_half(draw)} + {source}"))
    before = Line(state, f"tf.identity({source})")
    head = _heads(draw, source, draw.name("i"))
    new: Body = [before, Block([(head, suite)])]
    if rng.random() < 0.3 and not draw.empty:
        ta, out = draw.name("ta"), draw.name()
        dtype = f"tf.{draw.dtype.name}"
        begin = Line(ta, f"tf.TensorArray({dtype}, 0, dynamic_size=True)")
        suite.append(Line(ta, f"{ta}.write({ta}.size(), {state}[:1])"))
        new = [begin, *new, Line(out, f"tf.concat([{ta}.concat(), {state}], 0)")]
        return _added(draw, body, envs, names, new, [state, out])
    return _added(draw, body, envs, names, new, [state])


def until(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """A `while` that its state ends, or its counter."""
    rng, state, count = draw.random, draw.name("s"), draw.name("i")
    step = f"like({part.last}, {state}) {_half(draw)}"
    suite: Body = [
        Line(part.start, state),
        *part.body,
        Line(state, step),
        Line(count, f"{count} + 1"),
    ]
    limit = rng.randint(1, 4)
    test = rng.choice(
        [
            f"{count} < {limit}",
            f"{count} < {limit} and tf.reduce_sum(tf.abs({state})) > 1",
            f"tf.logical_and({count} < {limit}, tf.reduce_max({state}[:1]) > 0)",
        ]
    )
    if draw.empty:
        test = f"{count} < {limit}"
    out = draw.name()
    new: Body = [
        Line(state, f"tf.identity({part.source})"),
        Line(count, "tf.constant(0)"),
        Block([(f"while {test}:", suite)]),
        Line(out, f"{state} + tf.cast({count}, {state}.dtype)"),
    ]
    return _added(draw, body, envs, names, new, [state, out])


def lists(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """Two TensorArrays that one loop writes, one of which it reads, too; their stacks, rows and sizes."""
    if draw.empty:
        return False
    rng, source = draw.random, part.source
    first, second, count = draw.name("ta"), draw.name("ta"), draw.name("i")
    dtype, steps = f"tf.{draw.dtype.name}", rng.randint(1, 4)
    options = rng.choice(
        [f"{steps}, clear_after_read=False", "0, dynamic_size=True, clear_after_read=False"]
    )
    before = rng.choice([f"{first}.read({count} - 1)", f"{first}.read({count} // 2)"])
    suite: Body = [Line(part.start, f"like({source}, {source})")]
    suite.append(Block([(f"if {count} > 0:", [Line(part.start, before)])]))
    suite += part.body
    suite.append(Line(first, f"{first}.write({count}, like({part.last}, {source}))"))
    suite.append(Line(second, f"{second}.write({count}, tf.reduce_sum({part.last}))"))
    out, sums = draw.name(), draw.name()
    read = rng.choice(
        [
            f"{first}.concat()",
            f"{first}.stack()[-1]",
            f"{first}.read({steps - 1})",
            f"tf.reshape({first}.gather([0, {steps - 1}]), [-1, tf.shape({source})[1]])",
            f"tf.reduce_sum({first}.stack(), 0)",
        ]
    )
    new: Body = [
        Line(first, f"tf.TensorArray({dtype}, {options}, element_shape=[None, None])"),
        Line(second, f"tf.TensorArray({dtype}, {rng.choice([options, '0, dynamic_size=True'])})"),
        Block([(f"for {count} in tf.range({steps}):", suite)]),
        Line(out, read),
        Line(sums, f"{second}.stack()[tf.newaxis]"),
    ]
    return _added(draw, body, envs, names, new, [out, sums])


def branch(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """Lines in one branch, another expression in the other, and a third branch in some."""
    rng, out, source = draw.random, draw.name(), part.source
    test = rng.choice(
        [
            f"tf.reduce_sum({source}) > 0",
            f"tf.shape({source})[0] > 2",
            f"tf.reduce_any({source} > 2)",
        ]
    )
    then = [Line(part.start, source), *part.body, Line(out, f"like({part.last}, {source})")]
    otherwise: Body = [Line(out, f"{source} * 2")]
    if draw.stateful:
        write = draw.checked_write(source, envs)
        otherwise = [write, *otherwise] if write else otherwise
    clauses = [(f"if {test}:", then), ("else:", otherwise)]
    if rng.random() < 0.3:
        third: Body = [Line(out, f"tf.reverse({source}, [0])")]
        clauses.insert(1, (f"elif tf.reduce_max(tf.abs({source}[:1])) > 1:", third))
    if draw.empty:
        clauses = clauses[:1] + clauses[-1:]
    return _added(draw, body, envs, names, [Block(clauses)], [out])


def cases(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """Lines in a branch of `tf.switch_case` or `tf.case`, which reads what is around it."""
    name, out, source = draw.name("q"), draw.name(), part.source
    suite = [Line(part.start, source), *part.body, Line("", f"return like({part.last}, {source})")]
    others = f"lambda: {source} * 2, lambda: tf.reverse({source}, [1])"
    text = draw.random.choice(
        [
            f"tf.switch_case(tf.shape({source})[1] % 3, [{name}, {others}])",
            f"tf.switch_case(tf.shape({source})[0] % 4, [{others}, {name}])",
            f"tf.case([(tf.reduce_sum({source}) > 0, {name})], default=lambda: {source} + 1)",
        ]
    )
    new: Body = [Block([(f"def {name}():", suite)]), Line(out, text)]
    return _added(draw, body, envs, names, new, [out])


def function(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """A function of its own, called for two values: a `tf.function`, or one under jit."""
    rng, name = draw.random, draw.name("h")
    results = [part.last] if rng.random() < 0.5 else [part.last, part.start]
    parameters = [part.start, "Y", "I"]  # what lines name without being given it
    made = Function(name, parameters, part.body, results, rng.choice(DECORATED))
    exec(made.render(False), draw.space)
    targets = [draw.name() for _ in results]
    new: Body = [Line(", ".join(targets), f"{name}({part.source}, Y, I)")]
    if rng.random() < 0.6:
        again = draw.name()
        pick = "" if len(results) == 1 else "[0]"
        new.append(Line(again, f"{name}({rng.choice(names)}, Y, I){pick}"))
        targets = [*targets, again]
    if not draw.append(body, envs, new, targets):
        return False
    draw.functions.append(made)
    names += targets
    return True


def closure(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """A function that captures what is around it and returns early; some are recomputed in gradients."""
    rng, name, other = draw.random, draw.name("q"), draw.random.choice(names)
    suite: Body = [*part.body]
    if rng.random() < 0.5:
        early = Line("", f"return like({part.start}, {other}) + {other}")
        suite.append(Block([(f"if tf.reduce_sum({part.last}) > 1:", [early])]))
    suite.append(Line("", f"return like({part.last}, {other}) * {other}"))
    new: Body = [Block([(f"def {name}({part.start}):", suite)])]
    wrapper = rng.choice(["wrapped", "compiled", "tf.recompute_grad", "halved"])
    if wrapper != "halved" or not draw.stateful:
        new.append(Line(name, f"{wrapper}({name})"))
    out, slope = draw.name(), draw.name("g")
    new.append(Line(out, f"{name}({part.source})"))
    targets = [out]
    if not draw.dtype.is_integer and rng.random() < 0.7:
        new.append(Line(slope, f"slope(lambda u: tf.reduce_sum({name}(u) ** 2), {part.source})"))
        targets.append(slope)
    return _added(draw, body, envs, names, new, targets)


def gradient(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """A derivative of the lines: of first or second order, backwards or forwards, by variables."""
    if draw.dtype.is_integer:
        return False
    rng, name, out = draw.random, draw.name("q"), draw.name("g")
    forms = ["tf.reduce_sum({0} ** 2)", "tf.reduce_sum(tf.tanh({0}))",
             "tf.reduce_max({0}) + tf.reduce_mean({0})"]  # fmt: skip
    result = rng.choice(forms).format(part.last)
    source = part.source
    kind = rng.choice(["slope", "slope", "slope", "second", "tangent", "jacobian", "mixed", "both"])
    if kind in ("tangent", "jacobian"):
        result = part.last
    suite: Body = [*part.body, Line("", f"return {result}")]
    text = {
        "slope": f"slope({name}, {source})",
        "second": f"slope(lambda u: tf.reduce_sum(slope({name}, u) ** 2), {source})",
        "tangent": f"tangent({name}, {source})",
        "jacobian": f"jacobian({name}, {source})",
        "mixed": f"tangent(lambda u: slope({name}, u), {source})",
        "both": f"slope(lambda u: tf.reduce_sum(tangent({name}, u) * u), {source})",
    }[kind]
    if draw.stateful and rng.random() < 0.4 and kind == "slope":
        text = f"by_variables({name}, {source}, V, W)"
    if kind == "jacobian" and draw.empty:
        return False
    new: Body = [Block([(f"def {name}({part.start}):", suite)]), Line(out, text)]
    return _added(draw, body, envs, names, new, [out])


def rows(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """Lines for each row: a map, a vectorized map, a scan or a fold."""
    if draw.empty:
        return False
    name, out, source = draw.name("q"), draw.name(), part.source
    suite: Body = [*part.body, Line("", f"return {part.last}")]
    text = draw.random.choice(
        [
            f"tf.map_fn(lambda e: like({name}(e[tf.newaxis]), e), {source})",
            f"tf.vectorized_map(lambda e: like({name}(e[tf.newaxis]), e), {source})",
            f"tf.scan(lambda s, e: like({name}(s[tf.newaxis]), s) {_half(draw)} + e, {source})",
            f"tf.foldl(lambda s, e: like({name}(e[tf.newaxis]), s) - s, {source})[tf.newaxis]",
            f"tf.map_fn(lambda e: (tf.reduce_sum({name}(e[:, tf.newaxis])), e), {source})[0][tf.newaxis]",
            f"tf.stack([tf.reduce_sum({name}(e[tf.newaxis])) for e in tf.unstack({source}[:3])])[tf.newaxis]"
            if len({e[source].shape[0] for e in envs}) == 1
            else f"tf.foldr(lambda s, e: like({name}(e[tf.newaxis]), s) + s, {source})[tf.newaxis]",
        ]
    )
    new: Body = [Block([(f"def {name}({part.start}):", suite)]), Line(out, text)]
    return _added(draw, body, envs, names, new, [out])


def collected(draw: Drawing, body: Body, envs: list[Env], names: list[str], part: Suite) -> bool:
    """A Python list and a dictionary that a loop of Python or of the graph changes."""
    rng, source = draw.random, part.source
    items, table, out, last = draw.name("l"), draw.name("d"), draw.name(), draw.name()
    suite: Body = [
        Line(part.start, f"{table}['a']"),
        *part.body,
        Line(f"{table}['b']", f"{table}['a'] * 2"),
        Line(f"{table}['a']", f"like({part.last}, {source}) {_half(draw)}"),
        Line("", f"{items}.append(tf.reduce_sum({part.last}))"),
    ]
    count = rng.randint(1, 3)
    head = rng.choice(
        [f"for {draw.name('i')} in range({count}):", f"for {draw.name('i')} in tf.range({count}):"]
    )
    start = f"tf.identity({source})"
    new: Body = [
        Line(items, "[]"),
        Line(table, f"{{'a': {start}, 'b': {start} * 3}}"),
        Block([(head, suite)]),
        Line(out, f"{table}['a'] - {table}['b']"),
        Line(last, f"tf.stack({items})[tf.newaxis]"),
    ]
    return _added(draw, body, envs, names, new, [out, last])


# How often each is drawn.
BLOCKS: tuple[tuple[Callable[..., bool], int], ...] = (
    (loop, 5),
    (until, 3),
    (lists, 3),
    (branch, 3),
    (cases, 2),
    (function, 4),
    (closure, 3),
    (gradient, 5),
    (rows, 3),
    (collected, 2),
)
