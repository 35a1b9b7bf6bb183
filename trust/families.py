"""Statements of random programs that one expression or one block does not make: closures,
functional loops, lists that are read while they grow, Python's containers, writes among reads.

Each function appends its statements to a body, with the names they define to `env`, and returns
False where they do not run; `LookupError` where there is no operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from intaglio import tf
from trust.programs import Block, Line, Statement

Fits = Callable[[Any], bool]
Env = dict[str, Any]


class Drawing(Protocol):
    """What `generator.Draw` has that statements are drawn with."""

    random: Any
    variables: dict[str, Any]

    def name(self, letter: str = "x") -> str: ...
    def run(self, body: list[Statement], env: Env) -> Env | None: ...
    def keeps(self, value: Any) -> bool: ...
    def choose(self, env: Env, fits: Fits) -> str: ...
    def value(self, env: Env, name: str) -> Any: ...
    def filled(self, template: str, env: Env) -> str: ...
    def suite(self, env: Env, count: int, depth: int) -> list[Statement]: ...
    def predicate(self, env: Env) -> str: ...
    def assignment(self, body: list[Statement], env: Env, depth: int) -> bool: ...


def appended(
    draw: Drawing, body: list[Statement], env: Env, new: list[Statement], targets: list[str]
) -> bool:
    """Appends statements that define `targets`, if they run and the values may be operands."""
    after = draw.run(new, env)
    if after is None or not all(draw.keeps(after[t]) for t in targets):
        return False
    env |= {t: after[t] for t in targets}
    body += new
    return True


def _any(value: Any) -> bool:
    return True


def closure(draw: Drawing, body: list[Statement], env: Env, depth: int) -> bool:
    """A function that captures tensors around it, called twice; some return early."""
    rng = draw.random
    arguments = [draw.choose(env, _any) for _ in range(rng.randint(1, 2))]
    parameters = [draw.name("p") for _ in arguments]
    inner = {
        **env,
        **{
            p: tf.convert_to_tensor(draw.value(env, a))
            for p, a in zip(parameters, arguments, strict=True)
        },
    }
    suite = draw.suite(inner, rng.randint(1, 4), depth - 1)
    result = draw.choose(inner, _any)
    if rng.random() < 0.5:
        dtype = draw.value(inner, result).dtype
        other = draw.choose(inner, lambda v: v.dtype is dtype)
        early: list[Statement] = [Line("", f"return like({other}, {result})")]
        head = f"if {draw.predicate(inner)}:"
        if rng.random() < 0.4:
            early = [Block([(head, early)])]
            head = f"for {draw.name('i')} in tf.range({rng.randint(0, 3)}):"
        suite.append(Block([(head, early)]))
    suite.append(Line("", f"return tf.identity({result})"))
    name = draw.name("q")
    new: list[Statement] = [Block([(f"def {name}({', '.join(parameters)}):", suite)])]
    wrapper = rng.choice(["", "wrapped", "wrapped", "compiled", "tf.recompute_grad"])
    if wrapper:
        new.append(Line(name, f"{wrapper}({name})"))
    targets = [draw.name(), draw.name()]
    others = [f"like({draw.choose(env, _numeric)}, {a})" for a in arguments]
    new.append(Line(targets[0], f"{name}({', '.join(arguments)})"))
    new.append(Line(targets[1], f"{name}({', '.join(others)})"))
    return appended(draw, body, env, new, targets)


def _numeric(value: Any) -> bool:
    return value.dtype is tf.int32 or value.dtype is tf.float32


def functional_loop(draw: Drawing, body: list[Statement], env: Env, depth: int) -> bool:
    """`tf.while_loop` of a counter, a value and a TensorArray; some carry a dictionary."""
    rng = draw.random
    start = draw.choose(env, _any)
    state, counter, array, name = (draw.name(c) for c in ("s", "i", "ta", "q"))
    limit = rng.randint(0, 4)
    inner = {**env, state: tf.convert_to_tensor(draw.value(env, start)), counter: tf.constant(0)}
    suite = draw.suite(inner, rng.randint(1, 3), max(depth - 1, 0))
    written = draw.choose(inner, _any)
    dtype, kept = draw.value(inner, written).dtype, inner[state].dtype
    following = draw.choose(inner, lambda v: v.dtype is kept)
    suite.append(Line(array, f"{array}.write({counter}, {written})"))
    suite.append(Line("", f"return {counter} + 1, like({following}, {state}), {array}"))
    size = rng.choice(["size=0, dynamic_size=True", f"size={limit}"])
    begin = draw.name()
    values = f"[tf.constant(0), {begin}, tf.TensorArray(tf.{dtype.name}, {size})]"
    test = f"{counter} < {limit}"
    if rng.random() < 0.4:
        test = f"tf.logical_and({test}, {draw.predicate({**env, state: inner[state]})})"
    condition = f"lambda {counter}, {state}, {array}: {test}"
    options = rng.choice(["", "", ", maximum_iterations=2", ", parallel_iterations=1"])
    last, final, stacked = draw.name(), draw.name(), draw.name()
    new: list[Statement] = [
        Line(begin, f"tf.identity({start})"),
        Block([(f"def {name}({counter}, {state}, {array}):", suite)]),
        Line(f"{last}, {final}, {array}", f"tf.while_loop({condition}, {name}, {values}{options})"),
        Line(stacked, rng.choice([f"{array}.stack()", f"{array}.concat()", f"{array}.size()"])),
    ]
    return appended(draw, body, env, new, [last, final, stacked])


def growing(draw: Drawing, body: list[Statement], env: Env, depth: int) -> bool:
    """A TensorArray whose elements are read while it grows, backwards at times."""
    rng = draw.random
    start = draw.choose(env, _any)
    array, counter, element, new_element = (draw.name(c) for c in ("ta", "i", "e", "e"))
    count = rng.randint(0, 4)
    first = tf.convert_to_tensor(draw.value(env, start))
    inner = {**env, element: first, counter: tf.constant(0)}
    suite: list[Statement] = [
        Line(element, f"{array}.read({rng.choice([counter, f'{counter} // 2', '0'])})")
    ]
    suite += draw.suite(inner, rng.randint(1, 3), max(depth - 1, 0))
    source = draw.choose(inner, lambda v: v.dtype is first.dtype)
    suite.append(Line(new_element, f"like({source}, {element})"))
    suite.append(Line(array, f"{array}.write({counter} + 1, {new_element})"))
    if rng.random() < 0.3:
        suite.append(Block([(f"if {draw.predicate(inner)}:", [Line("", "break")])]))
    options = "size=1, dynamic_size=True, clear_after_read=False"
    target = draw.name()
    read = rng.choice(["{}.stack()", "{}.concat()", "{}.read({}.size() - 1)", "{}.size()"])
    new: list[Statement] = [
        Line(array, f"tf.TensorArray(tf.{first.dtype.name}, {options})"),
        Line(array, f"{array}.write(0, {start})"),
        Block([(f"for {counter} in tf.range({count}):", suite)]),
        Line(target, read.format(array, array)),
    ]
    return appended(draw, body, env, new, [target])


def appending(draw: Drawing, body: list[Statement], env: Env, depth: int) -> bool:
    """A Python list that a loop appends to, of Python or of the graph."""
    rng = draw.random
    start = draw.choose(env, _any)
    items, counter, item = (draw.name(c) for c in ("l", "i", "e"))
    first = tf.convert_to_tensor(draw.value(env, start))
    inner = {**env, counter: tf.constant(0)}
    count, staged = rng.randint(1, 4), rng.random() < 0.5
    if not staged:
        inner[item] = first
    suite: list[Statement] = [] if staged else [Line(item, f"{items}[-1]")]
    suite += draw.suite(inner, rng.randint(1, 3), max(depth - 1, 0))
    source = draw.choose(inner, lambda v: v.dtype is first.dtype)
    value = draw.name("e")
    suite.append(Line(value, f"like({source}, {start})"))
    suite.append(Line("", f"{items}.append({value})"))
    domain = f"tf.range({count})" if staged else f"range({count})"
    targets = [draw.name()]
    after: list[Statement] = [Line(targets[0], f"tf.stack({items})")]
    if not staged:
        if rng.random() < 0.5:
            changed = rng.choice([f"{items}.reverse()", f"{items}.pop(0)", f"del {items}[0]"])
            after.insert(0, Line("", changed))
        targets.append(draw.name())
        after.append(Line(targets[1], f"tf.add_n([tf.cast(v, tf.float32) for v in {items}])"))
        if first.dtype.is_complex:
            after[-1] = Line(targets[1], f"{items}[0]")
    new: list[Statement] = [
        Line(items, "[]" if staged else f"[tf.identity({start})]"),
        Block([(f"for {counter} in {domain}:", suite)]),
        *after,
    ]
    return appended(draw, body, env, new, targets)


def dictionary(draw: Drawing, body: list[Statement], env: Env, depth: int) -> bool:
    """A dictionary of tensors whose items a loop or a branch sets."""
    rng = draw.random
    start = draw.choose(env, _any)
    first = tf.convert_to_tensor(draw.value(env, start))
    same: Fits = lambda v: v.dtype is first.dtype  # noqa: E731 - a filter in two places
    other, table, left, right = draw.choose(env, same), draw.name("d"), draw.name(), draw.name()
    inner = {**env, left: first, right: tf.convert_to_tensor(draw.value(env, other))}
    suite: list[Statement] = [Line(left, f"{table}['a']"), Line(right, f"{table}['b']")]
    suite += draw.suite(inner, rng.randint(1, 3), max(depth - 1, 0))
    suite.append(Line(f"{table}['b']", f"like({left}, {right})"))
    suite.append(Line(f"{table}['a']", f"like({draw.choose(inner, same)}, {left})"))
    head = rng.choice(
        [
            f"for {draw.name('i')} in tf.range({rng.randint(0, 3)}):",
            f"if {draw.predicate(env)}:",
            f"for {draw.name('i')} in range({rng.randint(0, 3)}):",
        ]
    )
    targets = [draw.name(), draw.name()]
    new: list[Statement] = [
        Line(table, f"{{'a': tf.identity({start}), 'b': tf.identity({other})}}"),
        Block([(head, suite)]),
        Line(targets[0], f"{table}['a']"),
        Line(targets[1], f"{table}.pop('b')"),
    ]
    return appended(draw, body, env, new, targets)


READS = (
    "tf.identity({0})",
    "{0}.read_value()",
    "tf.gather({0}, [0, 0])",
    "{0}[0]",
    "{0}[::-1]",
    "{0}[..., tf.newaxis]",
    "tf.reshape({0}, [-1])",
    "tf.transpose({0})",
    "tf.gather_nd({0}, [[0]])",
    "tf.stack([{0}, {0}])",
    "tf.squeeze({0})",
    "tf.tile({0}, tf.ones_like(tf.shape({0})))",
    "tf.cast({0}, {0}.dtype)",
    "tf.broadcast_to({0}, tf.shape({0}))",
    "tf.concat([{0}], 0)",
    "tf.split({0}, 1, 0)[0]",
    "tf.raw_ops.ResourceGather(resource={0}.handle, indices=[0], dtype={0}.dtype)",
    "tf.stop_gradient({0})",
    "tf.where(True, {0}, {0})",
)


def writes(draw: Drawing, body: list[Statement], env: Env, depth: int) -> bool:
    """A variable read, written in branches or loops, read, written and read."""
    rng = draw.random
    if not draw.variables:
        raise LookupError
    name = rng.choice(list(draw.variables))
    targets: list[str] = []
    new: list[Statement] = []

    def read() -> None:
        for _ in range(5):
            line = Line(draw.name(), rng.choice(READS).format(name))
            after = draw.run([line], env)
            if after is not None and draw.keeps(after[line.target]):
                targets.append(line.target)
                new.append(line)
                return

    def write(suite: list[Statement]) -> None:
        for _ in range(rng.randint(1, 2)):
            draw.assignment(suite, dict(env), 0)

    read()
    kind = rng.choice(["branch", "loop", "plain", "branch in loop"])
    if kind == "plain":
        write(new)
    else:
        suites: list[list[Statement]] = [[], []]
        for suite in suites:
            write(suite)
        block = Block([(f"if {draw.predicate(env)}:", suites[0]), ("else:", suites[1])])
        loop = f"for {draw.name('i')} in tf.range({rng.randint(0, 3)}):"
        if kind == "loop":
            block = Block([(loop, suites[0])])
        elif kind == "branch in loop":
            block = Block([(loop, [block])])
        new.append(block)
    read()
    write(new)
    read()
    return bool(targets) and appended(draw, body, env, new, targets)


# How often each is drawn beside other statements, and whether it needs room for blocks below it.
STATEMENTS: tuple[tuple[int, bool, Callable[..., bool]], ...] = (
    (4, True, closure),
    (4, False, functional_loop),
    (3, False, growing),
    (3, False, appending),
    (2, False, dictionary),
    (6, False, writes),
)
