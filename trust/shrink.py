"""Makes a failing program small: statements, functions, inputs and constants go while it fails.

Greedy delta debugging on the tree of statements (Zeller and Hildebrandt, "Simplifying and
isolating failure-inducing input", IEEE TSE 28(2), 2002), with moves that fit programs: a value
becomes an input of its eager value, a block becomes its first clause.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intaglio import tf
from trust.programs import Block, Line, Program, Statement, load, namespace, text_of

# Words of statements that do something besides giving names values.
EFFECTS = (
    "assign", "scatter", "watch", "break", "return", "append", "reverse()", "pop(", "del ",
    "[\'", "StatefulS", "StatefulU",
)  # fmt: skip
Fails = Callable[[Program], bool]


def shrunk(program: Program, fails: Fails, seconds: float = 60.0) -> Program:
    """The smallest program found within some seconds that still fails."""
    end = time.monotonic() + seconds
    improved = True
    while improved and time.monotonic() < end:
        improved = False
        for candidate in _candidates(program):
            if time.monotonic() > end:
                break
            if fails(candidate):
                program, improved = candidate, True
                break
    return program


def _candidates(program: Program) -> Iterator[Program]:
    """Smaller programs, those that are much smaller first."""
    if len(program.main.results) > 1:
        for name in program.main.results:
            smaller = copy.deepcopy(program)
            smaller.main.results = [name]
            yield _pruned(_sliced(smaller))
        for name in program.main.results:
            smaller = copy.deepcopy(program)
            smaller.main.results.remove(name)
            yield smaller
    pruned = _pruned(_sliced(copy.deepcopy(program)))
    if len(pruned.source()) < len(program.source()):
        yield pruned
    yield from _prefixes(program)
    paths = list(_paths(program.main.body))
    for size in (8, 4, 2):
        for start in range(len(paths) - size, -1, -size):
            yield _without(program, paths[start : start + size])
    for path in reversed(paths):
        yield _without(program, [path])
    for path in paths:
        unwrapped = _unwrapped(program, path)
        if unwrapped is not None:
            yield unwrapped
    for path in reversed(paths):
        frozen = _frozen(program, path)
        if frozen is not None:
            yield frozen
    for index, function in enumerate(program.functions):
        for path in reversed(list(_paths(function.body))):
            smaller = copy.deepcopy(program)
            _delete(smaller.functions[index].body, path)
            yield smaller
    yield from _data(program)


def _prefixes(program: Program) -> Iterator[Program]:
    """The program up to a line that computes a value, which is the result; short ones first."""
    for index, line in enumerate(program.main.body[:-1]):
        if isinstance(line, Line) and line.target.isidentifier():
            smaller = copy.deepcopy(program)
            smaller.main.body = smaller.main.body[: index + 1]
            smaller.main.results = [line.target]
            yield _pruned(_sliced(smaller))


def _paths(body: list[Statement], prefix: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Where statements are: indices of statement, clause, statement, ..."""
    for i, statement in enumerate(body):
        yield (*prefix, i)
        if isinstance(statement, Block):
            for j, (_, suite) in enumerate(statement.clauses):
                yield from _paths(suite, (*prefix, i, j))


def _suite(body: list[Statement], path: tuple[int, ...]) -> list[Statement]:
    """The list that holds the statement of a path."""
    for i, j in zip(path[:-1:2], path[1::2], strict=False):
        statement = body[i]
        assert isinstance(statement, Block)
        body = statement.clauses[j][1]
    return body


def _delete(body: list[Statement], path: tuple[int, ...]) -> None:
    del _suite(body, path)[path[-1]]


def _without(program: Program, paths: list[tuple[int, ...]]) -> Program:
    smaller = copy.deepcopy(program)
    for path in sorted(paths, reverse=True):
        if not any(path != p and path[: len(p)] == p for p in paths):
            _delete(smaller.main.body, path)
    return smaller


def _unwrapped(program: Program, path: tuple[int, ...]) -> Program | None:
    """The statements of the first clause in the place of the block."""
    smaller = copy.deepcopy(program)
    suite = _suite(smaller.main.body, path)
    statement = suite[path[-1]]
    if not isinstance(statement, Block):
        return None
    suite[path[-1] : path[-1] + 1] = statement.clauses[0][1]
    return smaller


def _frozen(program: Program, path: tuple[int, ...]) -> Program | None:
    """The value that an outermost line computes as an input, of each call."""
    if len(path) > 1:
        return None
    line = program.main.body[path[0]]
    if not isinstance(line, Line) or not line.target or "," in line.target:
        return None
    smaller = copy.deepcopy(program)
    smaller.main.body = smaller.main.body[: path[0] + 1]
    smaller.main.results = [line.target]
    variables = {n: tf.Variable(a) for n, a in program.variables.items()}
    values: list[Any] = []
    try:
        space = namespace(program, variables, lambda f, **_: f)
        function = load(smaller.source(), {**space, "N": lambda x: x})
        for call in program.inputs:
            values.append(function(*[tf.constant(a) for a in call]).numpy())
    except Exception:
        return None
    smaller = copy.deepcopy(program)
    del smaller.main.body[path[0]]
    smaller.main.parameters.append(line.target)
    smaller.inputs = [[*call, v] for call, v in zip(smaller.inputs, values, strict=True)]
    return smaller


def _sliced(program: Program) -> Program:
    """Without the statements that no result follows from (Weiser, "Program slicing", 1981)."""
    for function in [program.main, *program.functions]:
        needed = set(function.results)
        kept: list[Statement] = []
        for statement in reversed(function.body):
            text = text_of([statement])
            line = statement.target if isinstance(statement, Line) else ""
            assigned = {n.strip(" (),") for n in line.split(",")} if line else _targets(statement)
            effect = any(w in text for w in EFFECTS)
            if effect or assigned & needed or (isinstance(statement, Line) and not line):
                kept.append(statement)
                needed |= set(_words(text))
        function.body = kept[::-1]
    return program


def _targets(statement: Statement) -> set[str]:
    """Names that are assigned anywhere in a statement."""
    if isinstance(statement, Line):
        return {n.strip(" (),") for n in statement.target.split(",")} - {""}
    return {n for _, suite in statement.clauses for s in suite for n in _targets(s)}


def _pruned(program: Program) -> Program:
    """Without the inputs, variables, functions and constants that nothing names."""
    text = program.main.render(False).split("\n", 1)[1]
    kept = [i for i, p in enumerate(program.main.parameters) if _names(text, p)]
    program.main.parameters = [program.main.parameters[i] for i in kept]
    program.inputs = [[call[i] for i in kept] for call in program.inputs]
    program.functions = [f for f in program.functions if _names(program.source(), f.name, 2)]
    text = program.source()
    program.constants = {n: a for n, a in program.constants.items() if _names(text, n)}
    program.variables = {n: a for n, a in program.variables.items() if _names(text, n)}
    return program


def _names(text: str, name: str, times: int = 1) -> bool:
    return _words(text).count(name) >= times


def _words(text: str) -> list[str]:
    return "".join([c if c.isalnum() or c == "_" else " " for c in text]).split()


def _data(program: Program) -> Iterator[Program]:
    """The same call each time, then inputs of ones and of fewer distinct values."""
    first = program.inputs[0]
    for index, call in enumerate(program.inputs[1:], 1):
        if any(a is not b for a, b in zip(first, call, strict=True)):
            smaller = copy.deepcopy(program)
            smaller.inputs = [
                smaller.inputs[0] if i == index else c for i, c in enumerate(smaller.inputs)
            ]
            yield smaller
    for i, array in enumerate(first):
        for simpler in _simpler(array):
            smaller = copy.deepcopy(program)
            for call in smaller.inputs:
                if call[i].shape == array.shape:
                    call[i] = simpler
            yield smaller


def _simpler(array: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    if array.size and np.any(array != np.ones_like(array)):
        yield np.ones_like(array)
        rounded = array.astype(np.float64) if array.dtype.kind not in "c" else array
        with np.errstate(all="ignore"):
            simple = np.round(rounded).astype(array.dtype)
        if array.dtype.kind not in "biu" and np.any(simple != array):
            yield simple
