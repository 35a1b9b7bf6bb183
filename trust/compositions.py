"""Draws dense programs: compositions of the expressions of `snippets.py`, whose values are used twice and more.

The third generator. Where `generator.py` draws each operand of each op, this one has a matrix in the
middle of everything, so that nearly every line is a producer of the next, few lines meet many passes,
and a program is cheap: no op takes more than the shape. Calls have four shapes, among them single
rows and columns, sizes around a tile's, and in some programs none at all. Lines become bodies of loops,
branches, functions, gradients and maps of whole rows, within each other (`blocks.py`); some call an op of
the catalogue for numbers of the matrix, some compute in another dtype. Everything follows from the seed.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np

from intaglio import tf
from tests.ops import calls
from trust import blocks, catalogue, snippets, verdicts
from trust.programs import NAMESPACE, Function, Line, Program, Statement, text_of

# Counts up whenever a seed gives another program than before.
VERSION = 6
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
# Of which threads have a share, and several tiles.
LARGE = [(129, 65), (300, 50), (64, 257), (1, 5000), (3000, 1), (1000, 7), (33, 300)]
DTYPES = {tf.float32: 20, tf.float64: 8, tf.float16: 2, tf.bfloat16: 2, tf.int32: 4, tf.int64: 1}
# Beyond, rounding decides too much, and squares of squares are infinite.
MAX_MAGNITUDE, MAX_ELEMENTS = 1e4, 40_000
CALLS = 4
KINDS: dict[str, int] = {
    "ELEMENTWISE": 22, "MOVES": 24, "REDUCTIONS": 22, "PRODUCTS": 8, "CONTROL": 8, "OTHERS": 8,
}  # fmt: skip
# Lines of these forms are not the same for no rows eagerly and in a graph, as in TensorFlow.
ROWS = ("tf.map_fn", "tf.scan", "tf.foldl", "tf.foldr", "tf.vectorized_map", "jacobian")
# How often a line calls an op of the catalogue, or is computed in another dtype.
CATALOGUE_SHARE, CONVERTED_SHARE, NESTED_SHARE = 0.18, 0.06, 0.3
# How many ops of the catalogue most programs call at least, and how often each is tried.
FEWEST_CALLS, CALL_TRIES = 2, 6
# How many calls are of strings, in programs that have some.
TEXT_SHARE = 0.6
# Blocks within each other.
MAX_DEPTH = 3

Env = dict[str, Any]
Body = list[Statement]


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
        if rng.random() < 0.12:
            self.shapes[1] = rng.choice(LARGE)
        self.scale = rng.choice([1.0, 1.0, 3.0])
        # Some programs have strings, which machine code refuses.
        self.text = rng.random() < 0.06
        # Programs of following seeds call each op of the catalogue in turn.
        self.next_op = seed * FEWEST_CALLS
        self.counter = 0
        self.functions: list[Function] = []
        self.variables: dict[str, Any] = {}
        self.constants: dict[str, np.ndarray[Any, Any]] = {}
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
        if rng.random() < CONVERTED_SHARE:
            dtype = rng.choice(list(DTYPES)).name
            within = re.sub(r"\bX\b", f"tf.cast({source}, tf.{dtype})", template)
            return f"tf.cast({within}, tf.{self.dtype.name})"
        return text

    def call(self, body: Body, envs: list[Env], names: list[str]) -> bool:
        """Appends a call of the next op of the catalogue, like one of its samples."""
        rng = self.random
        ops = (
            catalogue.textual() if self.text and rng.random() < TEXT_SHARE else catalogue.numeric()
        )
        name, samples = ops[self.next_op % len(ops)]
        self.next_op += 1
        for _ in range(CALL_TRIES):
            source = rng.choice([*names[-2:], rng.choice(names)])
            call = self._call_text(name, rng.choice(samples), source)
            try:
                results = tf.nest.flatten(eval(call, {**self.space, **envs[0]}))
            except Exception:
                continue
            if results:
                line = Line(self.name(), f"mat({call}, {rng.randrange(len(results))}, {source})")
                if self.append(body, envs, [line], [line.target]):
                    names.append(line.target)
                    return True
        return False

    def _call_text(self, name: str, sample: Any, source: str) -> str:
        """The text of a call, numbers of a value in the place of some of the sample's."""
        fixed = name in catalogue.CONSISTENT or catalogue.has_noise(name)
        arguments: list[str] = []
        for key, given in calls.inputs_of(sample).items():
            text = self._given(given, source, fixed)
            if "(" in text and key in catalogue.sorted_inputs(name):
                text = f"tf.sort({text})"
            arguments.append(f"{key}={text}")
        for key, given in calls.attrs_of(sample).items():
            is_dtype = "dtype" in type(given).__name__.lower()
            arguments.append(f"{key}={f'tf.{given.name}' if is_dtype else repr(given)}")
        return f"tf.raw_ops.{name}({', '.join(arguments)})"

    def _given(self, given: Any, source: str, fixed: bool) -> str:
        """The text of an argument: a constant, or as many numbers that `source` decides.

        These are any numbers, numbers between those of the sample, or near each of them: what many
        ops are defined for is an interval, or matrices of a kind.
        """
        if isinstance(given, list):
            parts = [self._given(a, source, fixed) for a in given]
            return f"[{', '.join(parts)}]"
        name = self.name("K")
        self.constants[name] = given
        self.space[name] = tf.constant(given)
        kind, rng = given.dtype.kind, self.random
        share = 0.2 if kind in "iub" else 0.8
        if fixed or not given.size or kind == "O" or rng.random() >= share:
            return name
        forms = {
            "b": ["like"],
            "i": ["like", "within"],
            "u": ["like", "within"],
            "c": ["like", "near"],
        }
        return f"{rng.choice(forms.get(kind, ['like', 'within', 'near']))}({source}, {name})"

    def line(self, body: Body, envs: list[Env], names: list[str], simple: bool) -> bool:
        """Appends one line."""
        if self.random.random() < CATALOGUE_SHARE:
            return self.call(body, envs, names)
        text = self.expression(names, simple)
        target = self.name()
        if any(r in text for r in ROWS) and (self.empty or not self._takes_rows(text, names)):
            return False
        if not self.append(body, envs, [Line(target, text)], [target]):
            return False
        names.append(target)
        return True

    def _takes_rows(self, text: str, names: list[str]) -> bool:
        """Whether an expression runs for two rows: a graph has the function of a row in any case."""
        rows = {name: tf.ones([2, 3], self.dtype) for name in names}
        try:
            eval(text, {**self.space, **rows, "I": tf.range(2)})
        except (tf.errors.OpError, TypeError, ValueError):
            return False
        return True

    def append(self, body: Body, envs: list[Env], new: Body, targets: list[str]) -> bool:
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
    def block(self, body: Body, envs: list[Env], names: list[str], depth: int = 1) -> bool:
        """Lines as the body of a loop, a branch, a function, a gradient or a map."""
        draw = self.random.choices([b for b, _ in blocks.BLOCKS], [w for _, w in blocks.BLOCKS])[0]
        source = self.random.choice(names[-3:])
        start = self.name("z")
        inner = [{**e, start: e[source]} for e in envs]
        suite: Body = []
        within = [start]
        self.lines(suite, inner, within, self.random.randint(1, 4), True)
        if depth < MAX_DEPTH and self.random.random() < NESTED_SHARE:
            self.block(suite, inner, within, depth + 1)
        if len(within) < 2:
            return False
        part = blocks.Suite(source, start, suite, self.random.choice(within[-2:]))
        if part.last == start:
            part = part._replace(last=within[-1])
        return draw(self, body, envs, names, part)

    def checked_write(self, source: str, envs: list[Env]) -> Line | None:
        """A write to a variable that runs, though the program may never come there."""
        line = self.write(source)
        return line if self.run([line], [dict(e) for e in envs], []) else None

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
        names: list[str] = ["X", "Y"]
        body: Body = []
        for _ in range(rng.randint(2, 5)):
            self.lines(body, envs, names, rng.randint(1, 3), False)
            if rng.random() < 0.55:
                self.block(body, envs, names)
            if self.stateful and rng.random() < 0.5:
                self.append(body, envs, [self.write(rng.choice(names))], [])
        results = self._results(body, envs, names)
        if not self.stateful:
            self.constants["V"] = np.asarray(self.space["V"].numpy())
        main = Function("f", ["X", "Y", "I"], body, results)
        functions: list[Function] = []
        used = main.render()
        for function in reversed(self.functions):  # those that call others come after them
            if re.search(rf"\b{function.name}\b", used):
                functions.insert(0, function)
                used += function.render()
        constants = {n: a for n, a in self.constants.items() if re.search(rf"\b{n}\b", used)}
        return Program(
            self.seed, main, functions, inputs, starts, constants, (*range(CALLS), 0, 1), ()
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
    others = ["ahead", "change-over", "graph", "ahead, None", "graph, None", "graph, no rank"]
    if not program.variables:  # what several threads assign depends on their order
        others.append("threads")
    at = program.seed % len(others)
    chosen = ["jit", "jit, None", others[at], others[(at + 1 + program.seed // 7) % len(others)]]
    if program.seed % 16 == 0 and "xla" in verdicts.MODES:
        chosen.append("xla")
    return list(dict.fromkeys(chosen))
