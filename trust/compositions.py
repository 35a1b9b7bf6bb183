"""Draws dense programs: compositions of the expressions of `snippets.py`, whose values are used twice and more.

The third generator. Where `generator.py` draws each operand of each op, this one has a matrix in the
middle of everything, so that nearly every line is a producer of the next, few lines meet many passes,
and a program is cheap: no op takes more than the shape. Calls have four shapes, among them single
rows and columns, sizes around a tile's, and in some programs none at all. Lines become bodies of loops,
branches, functions, gradients and maps of whole rows. Everything follows from the seed.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any, NamedTuple

import numpy as np

from intaglio import tf
from trust import snippets, verdicts
from trust.programs import NAMESPACE, Block, Function, Line, Program, Statement, text_of

VERSION = 3
SHAPES = [
    (3, 4),
    (1, 4),
    (4, 1),
    (1, 1),
    (2, 2),
    (17, 33),
    (5, 70),
    (70, 3),
    (4, 9),
    (8, 16),
    (2, 130),
]
EMPTY = [(0, 3), (2, 0), (0, 0)]
DTYPES = {tf.float32: 20, tf.float64: 8, tf.float16: 2, tf.bfloat16: 2, tf.int32: 4, tf.int64: 1}
# Beyond, rounding decides too much, and squares of squares are infinite.
MAX_MAGNITUDE, MAX_ELEMENTS = 1e4, 20_000
CALLS = 4
KINDS: dict[str, int] = {
    "ELEMENTWISE": 24, "MOVES": 26, "REDUCTIONS": 24, "PRODUCTS": 8, "CONTROL": 8,
}  # fmt: skip
# Lines of these forms are not the same for no rows eagerly and in a graph, as in TensorFlow.
ROWS = ("tf.map_fn", "tf.scan", "tf.foldl", "tf.foldr", "tf.vectorized_map")

Env = dict[str, Any]
Body = list[Statement]


class _Suite(NamedTuple):
    """Lines that compute `last` from `start`, which begins as `source` is."""

    source: str
    start: str
    body: Body
    last: str


class Compose:
    """Draws one program; each line runs eagerly for the shapes of all calls while it is drawn."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = rng = random.Random(seed)
        self.data = np.random.default_rng(seed)
        self.dtype = rng.choices(list(DTYPES), list(DTYPES.values()))[0]
        self.stateful = rng.random() < 0.35
        self.special = rng.random() < 0.08
        self.empty = rng.random() < 0.15
        self.shapes = rng.sample(SHAPES, CALLS)
        if self.empty:
            self.shapes[-1] = rng.choice(EMPTY)
        self.scale = rng.choice([1.0, 1.0, 3.0])
        self.counter = 0
        self.functions: list[Function] = []
        self.variables: dict[str, Any] = {}
        self.space: Env = {**NAMESPACE, "wrapped": _plain, "compiled": _plain}

    # -- data ------------------------------------------------------------------------------
    def matrix(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Numbers; integers, and in some programs floats, with many ties."""
        values = self.data.standard_normal(shape) * self.scale
        if self.dtype.is_integer:
            values *= 3.0
        if self.seed % 7 == 0:
            values = np.round(values)
        return values.astype(self.dtype.as_numpy_dtype)

    def inputs(self) -> list[list[np.ndarray[Any, Any]]]:
        """The arguments of each call: two matrices of one shape, and a number for each row."""
        return [
            [self.matrix(s), self.matrix(s), self.data.integers(0, 20, s[:1]).astype(np.int32)]
            for s in self.shapes
        ]

    def name(self, letter: str = "x") -> str:
        """A new name."""
        self.counter += 1
        return f"{letter}{self.counter}"

    # -- running while drawing -----------------------------------------------------------------
    def run(self, body: Body, envs: list[Env], targets: list[str]) -> bool:
        """Runs statements for every call; False if one fails or gives what cannot go on."""
        saved = {n: v.numpy() for n, v in self.variables.items()}
        afters: list[Env] = []
        code = compile(text_of(body), "<drawn>", "exec")
        for env in envs:
            after = {**self.space, **env}
            try:
                exec(code, after)
                fits = all(self._fits(after[t]) for t in targets)
            except Exception:
                fits = False
            if not fits:
                for n, v in saved.items():
                    self.variables[n].assign(v)
                return False
            afters.append(after)
        for env, after in zip(envs, afters, strict=True):
            env.update({t: after[t] for t in targets})
        return True

    def _fits(self, value: Any) -> bool:
        if not tf.is_tensor(value) or value.shape.rank != 2 or value.dtype is not self.dtype:
            return False
        array = value.numpy().astype(np.float64)
        if array.size > MAX_ELEMENTS:
            return False
        return self.special or not array.size or float(np.abs(array).max()) < MAX_MAGNITUDE

    # -- lines ----------------------------------------------------------------------------------
    def expression(self, names: list[str], simple: bool = False) -> str:
        """An expression of one or two of the values, rather of late ones."""
        rng = self.random
        source = rng.choice([*names[-2:], rng.choice(names)])
        if rng.random() < 0.18 and len(names) > 1:
            other = rng.choice(names)
            form = rng.choice(["{} + {}", "{} * {}", "{} - {}", "tf.maximum({}, {})"])
            return form.format(f"cut({source}, {other})", f"cut({other}, {source})")
        kinds = dict(KINDS)
        if simple:
            kinds.pop("CONTROL")
        if self.stateful:
            kinds["STATE"] = 8
        if self.special:
            kinds["SPECIAL"] = 16
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        template = rng.choice(getattr(snippets, kind))
        text = re.sub(r"\bX\b", source, template)
        if rng.random() < 0.15:
            inner = rng.choice(snippets.ELEMENTWISE + snippets.MOVES)
            text = re.sub(r"\bX\b", lambda _: f"({text})", inner)
        return text

    def line(self, body: Body, envs: list[Env], names: list[str], simple: bool) -> bool:
        """Appends one line."""
        target, text = self.name(), self.expression(names, simple)
        if self.empty and any(r in text for r in ROWS):
            return False
        if not self._append(body, envs, [Line(target, text)], [target]):
            return False
        names.append(target)
        return True

    def _append(self, body: Body, envs: list[Env], new: Body, targets: list[str]) -> bool:
        if not self.run(new, envs, targets):
            return False
        body += new
        return True

    def lines(
        self, body: Body, envs: list[Env], names: list[str], count: int, simple: bool
    ) -> None:
        """Appends some lines."""
        for _ in range(4 * count):
            if count == 0:
                return
            count -= self.line(body, envs, names, simple)

    def write(self, source: str) -> Line:
        """A variable is written, as a whole or in part."""
        return Line("", re.sub(r"\bX\b", source, self.random.choice(snippets.WRITES)))

    # -- blocks -----------------------------------------------------------------------------------
    def block(self, body: Body, envs: list[Env], names: list[str]) -> None:
        """Lines as the body of a loop, a branch, a function, a gradient or a map."""
        draw = self.random.choice(
            [self.loop, self.loop, self.branch, self.function, self.function, self.gradient]
        )
        source = self.random.choice(names[-3:])
        start = self.name("z")
        inner = [{**e, start: e[source]} for e in envs]
        suite: Body = []
        within = [start]
        self.lines(suite, inner, within, self.random.randint(1, 4), True)
        if len(within) > 1:
            draw(body, envs, names, _Suite(source, start, suite, within[-1]))

    def loop(self, body: Body, envs: list[Env], names: list[str], part: _Suite) -> None:
        """A loop that carries a matrix; each iteration brings the result to its shape."""
        rng, state, source = self.random, self.name("s"), part.source
        suite: Body = [Line(part.start, state), *part.body]
        if self.stateful and rng.random() < 0.5:
            at = rng.randint(1, len(suite))
            suite.insert(at, self.write(part.start))
        if rng.random() < 0.25:
            suite.append(Block([(f"if tf.reduce_sum({part.last}) > 5:", [Line("", "break")])]))
        half = "// 2" if self.dtype.is_integer else "* .5"
        suite.append(Line(state, f"like({part.last}, {state}) {half} + {source}"))
        heads = [
            f"for {self.name('i')} in tf.range({rng.randint(0, 3)}):",
            f"for {self.name('i')} in tf.range(tf.shape({source})[0] % 4):",
            f"for {self.name('i')} in range({rng.randint(1, 3)}):",
        ]
        before = Line(state, f"tf.identity({source})")
        new: Body = [before, Block([(rng.choice(heads), suite)])]
        if rng.random() < 0.3:
            ta, out = self.name("ta"), self.name()
            dtype = f"tf.{self.dtype.name}"
            before_list = Line(ta, f"tf.TensorArray({dtype}, 0, dynamic_size=True)")
            suite.append(Line(ta, f"{ta}.write({ta}.size(), {state}[:1])"))
            new = [before_list, *new, Line(out, f"tf.concat([{ta}.concat(), {state}], 0)")]
            if not self.empty and self._append(body, envs, new, [state, out]):
                names += [state, out]
            return
        if self._append(body, envs, new, [state]):
            names.append(state)

    def branch(self, body: Body, envs: list[Env], names: list[str], part: _Suite) -> None:
        """Lines in one branch, another expression in the other."""
        rng, out, source = self.random, self.name(), part.source
        test = rng.choice(
            [
                f"tf.reduce_sum({source}) > 0",
                f"tf.shape({source})[0] > 2",
                f"tf.reduce_any({source} > 2)",
            ]
        )
        then = [Line(part.start, source), *part.body, Line(out, f"like({part.last}, {source})")]
        otherwise: Body = [Line(out, f"{source} * 2")]
        if self.stateful:
            otherwise.insert(0, self.write(source))
        new: Body = [Block([(f"if {test}:", then), ("else:", otherwise)])]
        if self._append(body, envs, new, [out]):
            names.append(out)

    def function(self, body: Body, envs: list[Env], names: list[str], part: _Suite) -> None:
        """A function of its own, called for two values: a `tf.function`, one under jit, a recomputed one."""
        rng, name = self.random, self.name("h")
        wrapper = rng.choice(["wrapped", "wrapped", "compiled"])
        results = [part.last] if rng.random() < 0.5 else [part.last, part.start]
        parameters = [part.start, "Y", "I"]  # what lines name without being given it
        function = Function(name, parameters, part.body, results, wrapper)
        exec(function.render(False), self.space)
        targets = [self.name() for _ in results]
        new: Body = [Line(", ".join(targets), f"{name}({part.source}, Y, I)")]
        if rng.random() < 0.6:
            again = self.name()
            pick = "" if len(results) == 1 else "[0]"
            new.append(Line(again, f"{name}({rng.choice(names)}, Y, I){pick}"))
            targets = [*targets, again]
        if self._append(body, envs, new, targets):
            self.functions.append(function)
            names += targets

    def gradient(self, body: Body, envs: list[Env], names: list[str], part: _Suite) -> None:
        """The gradient of the lines, of their first result at times of another value, too."""
        rng, name, out = self.random, self.name("q"), self.name("g")
        forms = ["tf.reduce_sum({0} ** 2)", "tf.reduce_sum(tf.tanh({0}))",
                 "tf.reduce_max({0}) + tf.reduce_mean({0})"]  # fmt: skip
        result = rng.choice(forms).format(part.last)
        source, suite = part.source, [*part.body, Line("", f"return {result}")]
        new: Body = [Block([(f"def {name}({part.start}):", suite)])]
        text = f"slope({name}, {source})"
        if rng.random() < 0.25:
            text = f"slope(lambda u: tf.reduce_sum(slope({name}, u) ** 2), {source})"
        new.append(Line(out, text))
        if self._append(body, envs, new, [out]):
            names.append(out)

    # -- the whole -------------------------------------------------------------------------------
    def program(self) -> Program:
        """The program of the seed."""
        rng = self.random
        inputs = self.inputs()
        if self.stateful:
            small = [self.matrix(s) for s in ((), (3, 4))]
            for name, value in zip("VW", small, strict=True):
                self.variables[name] = tf.Variable(value)
        else:
            self.space["V"] = tf.constant(2 if self.dtype.is_integer else 0.5, self.dtype)
        starts = {n: v.numpy() for n, v in self.variables.items()}
        self.space |= self.variables
        envs: list[Env] = [
            dict(zip(("X", "Y", "I"), map(tf.constant, arrays), strict=True)) for arrays in inputs
        ]
        names, body = ["X", "Y"], Body()
        for _ in range(rng.randint(2, 5)):
            self.lines(body, envs, names, rng.randint(1, 3), False)
            if rng.random() < 0.55:
                self.block(body, envs, names)
            if self.stateful and rng.random() < 0.5:
                self._append(body, envs, [self.write(rng.choice(names))], [])
        results = self._results(body, envs, names)
        constants = {} if self.stateful else {"V": np.asarray(self.space["V"].numpy())}
        main = Function("f", ["X", "Y", "I"], body, results)
        used = main.render() + "".join([f.render() for f in self.functions])
        if not re.search(r"\bV\b", used):
            constants = {}
        return Program(
            self.seed, main, self.functions, inputs, starts, constants, (*range(CALLS), 0, 1), ()
        )

    def _results(self, body: Body, envs: list[Env], names: list[str]) -> list[str]:
        """Some of the values, or sums of all of them, so that nothing else needs them."""
        rng, late = self.random, names[2:] or names
        if rng.random() < 0.4:
            found: list[str] = []
            for name in late:
                out = self.name("r")
                forms = ["tf.reduce_sum({}, 0)", "tf.reduce_mean({}, 1)", "tf.transpose({})",
                         "tf.reduce_max({}, 1)", "{}[:1]", "tf.reduce_sum({})"]  # fmt: skip
                body.append(Line(out, rng.choice(forms).format(name)))
                found.append(out)
            return found
        return sorted(rng.sample(late, min(len(late), rng.randint(1, 6))), key=late.index)


def _plain(function: Any) -> Any:
    return function


def draw(seed: int) -> Program:
    """The program of a seed."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return Compose(seed).program()


def modes(program: Program) -> list[str]:
    """How a program is run: compiled for known and for open shapes, and in two of the other modes.

    XLA, which compiles for a second and more, is one of them for few.
    """
    others = ["ahead", "change-over", "graph", "ahead, None", "graph, None"]
    if not program.variables:  # what several threads assign depends on their order
        others.append("threads")
    at = program.seed % len(others)
    chosen = ["jit", "jit, None", others[at], others[(at + 1 + program.seed // 7) % len(others)]]
    if program.seed % 16 == 0 and "xla" in verdicts.MODES:
        chosen.append("xla")
    return list(dict.fromkeys(chosen))
