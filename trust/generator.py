"""Draws random programs: typed by running each statement eagerly while it is drawn.

A statement that fails is dropped, so that a program that was drawn runs eagerly on the first of
its inputs. Everything follows from the seed.
"""

from __future__ import annotations

import contextlib
import functools
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import tf
from tests.ops import calls
from trust import catalogue, families
from trust.programs import Block, Function, Line, Program, Statement, like, text_of, whole
from trust.templates import EXACT, LARGE, MIXED, RANDOM, ROUNDED

# Counts up whenever a seed gives another program than before.
VERSION = 2
MAX_LARGE_ELEMENTS = 20_000
DTYPES = {
    tf.float32: 40, tf.float64: 10, tf.float16: 4, tf.bfloat16: 4, tf.int32: 14, tf.int64: 8,
    tf.int8: 2, tf.uint8: 3, tf.int16: 2, tf.bool: 8, tf.complex64: 4, tf.complex128: 1,
    tf.uint16: 1, tf.uint32: 2, tf.uint64: 2,
}  # fmt: skip
SHAPES = [
    (), (), (1,), (2,), (3,), (3,), (5,), (8,), (17,), (33,), (2, 3), (2, 3), (3, 2), (3, 3),
    (1, 3), (4, 1), (4, 5), (2, 1, 3), (2, 3, 4), (3, 4, 2), (2, 2, 3, 2), (16, 9), (7, 31),
    (0,), (0, 3), (2, 0), (1, 1),
]  # fmt: skip
# More of them for some programs: vectors and tiles end within them, and threads share them.
LARGE_SHAPES = [(1000,), (64, 33), (129, 65), (17, 300), (3000,), (2, 40, 50), (300, 2)]
NICE = [0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 0.25, 7.0, 2.0, -0.0]
SPECIAL = [float("nan"), float("inf"), float("-inf"), 1e30, 1e-30]
FLOATS = (tf.float32, tf.float64, tf.float16, tf.bfloat16)
COMPLEX = (tf.complex64, tf.complex128)
UNSIGNED = (tf.uint8, tf.uint16, tf.uint32, tf.uint64)
INTEGERS = (tf.int32, tf.int64, tf.int8, tf.int16, *UNSIGNED)
KINDS: dict[str, Callable[[Any], bool]] = {
    "f": lambda v: v.dtype in FLOATS,
    "c": lambda v: v.dtype in (*FLOATS, *COMPLEX),
    "r": lambda v: v.dtype in (*FLOATS, *INTEGERS),
    "n": lambda v: v.dtype in (*FLOATS, *INTEGERS, *COMPLEX),
    "i": lambda v: v.dtype in (tf.int32, tf.int64),
    "b": lambda v: v.dtype is tf.bool,
    "t": lambda v: True,
    "w": lambda v: v.dtype in FLOATS and bool(v.shape.rank) and v.shape[0] > 0,
    "m": lambda v: v.dtype in FLOATS and v.shape.rank == 2,
}
# What called functions are decorated with: `compiled` is `wrapped` with jit_compile=True.
WRAPPERS = ("wrapped", "wrapped", "wrapped", "compiled")
# Suites of statements within each other.
MAX_NESTED = 4
KEPT = {*FLOATS, *COMPLEX, *INTEGERS, tf.bool}


class Draw:
    """Draws one program."""

    def __init__(self, seed: int, statements: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.statements = statements
        self.counter = 0
        self.constants: dict[str, Any] = {}
        self.variables: dict[str, Any] = {}
        # The variable that holds the state of random ops, if there is one.
        self.state = ""
        self.nested = 0
        self.functions: list[Function] = []
        # The dtypes and shapes of the arguments that a function was drawn for.
        self.kinds: dict[str, list[Any]] = {}
        self.space: dict[str, Any] = {}
        self.special = self.random.random() < 0.04
        # Some programs have large arrays; some have strings, which machine code refuses.
        self.large = self.random.random() < 0.08
        self.mixed = self.random.random() < 0.1
        self.max_elements = MAX_LARGE_ELEMENTS if self.large else catalogue.MAX_ELEMENTS

    # -- data -----------------------------------------------------------------------
    def array(self, dtype: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Values of a dtype: some that are exact, some with all their bits."""
        rng, size = self.random, int(np.prod(shape))
        if dtype is tf.bool:
            values: list[Any] = [rng.random() < 0.5 for _ in range(size)]
        elif dtype in INTEGERS:
            low = 0 if dtype in UNSIGNED else -9
            values = [rng.choice([0, 1, 2, 3, rng.randint(low, 20)]) for _ in range(size)]
        else:
            nice, scale = rng.random() < 0.4, rng.choice([1.0, 1.0, 1.0, 10.0, 0.01])
            values = [self._float(nice, scale) for _ in range(size)]
            if dtype in COMPLEX:
                values = [complex(v, self._float(nice, scale)) for v in values]
        return np.array(values).reshape(shape).astype(dtype.as_numpy_dtype)

    def _float(self, nice: bool, scale: float) -> float:
        if self.special and self.random.random() < 0.1:
            return self.random.choice(SPECIAL)
        return self.random.choice(NICE) if nice else self.random.gauss(0.0, scale)

    def dtype(self) -> Any:
        """One of the dtypes, by weight."""
        return self.random.choices(list(DTYPES), list(DTYPES.values()))[0]

    def name(self, letter: str = "x") -> str:
        """A new name."""
        self.counter += 1
        return f"{letter}{self.counter}"

    def constant(self, array: Any) -> str:
        """The name of a new constant."""
        name = self.name("K")
        self.constants[name] = array
        self.space[name] = tf.constant(array)
        return name

    # -- running while drawing ----------------------------------------------------------
    def run(self, body: list[Statement], env: dict[str, Any]) -> dict[str, Any] | None:
        """The environment after statements, or None where they fail."""
        after = {**self.space, **env}
        saved = {n: v.numpy() for n, v in self.variables.items()}
        try:
            exec(text_of(body), after)
        except Exception:
            for n, v in saved.items():
                self.variables[n].assign(v)
            return None
        return after

    def keeps(self, value: Any) -> bool:
        """Whether a value may be operand of what follows."""
        return (
            tf.is_tensor(value)
            and hasattr(value, "numpy")
            and value.dtype in KEPT
            and value.shape.num_elements() <= self.max_elements
            and value.shape.rank <= 6
        )

    def add(self, body: list[Statement], env: dict[str, Any], line: Line) -> bool:
        """Appends a line that computes a value, if it runs."""
        after = self.run([line], env)
        if after is None or (line.target and not self.keeps(after[line.target])):
            return False
        if line.target:
            env[line.target] = after[line.target]
        body.append(line)
        return True

    # -- choosing operands ------------------------------------------------------------
    def choose(self, env: dict[str, Any], fits: Callable[[Any], bool]) -> str:
        """The name of a tensor that fits, rather a late one; `LookupError` if there is none."""
        names = [n for n, v in {**self.variables, **env}.items() if self._is_operand(v) and fits(v)]
        if not names:
            raise LookupError
        if self.random.random() < 0.5:
            names = names[-3:]
        return self.random.choice(names)

    @staticmethod
    def _is_operand(value: Any) -> bool:
        return isinstance(value, (tf.Tensor, tf.Variable)) and value.dtype in KEPT

    def value(self, env: dict[str, Any], name: str) -> Any:
        """The tensor or variable of that name."""
        return env[name] if name in env else self.variables[name]

    def filled(self, template: str, env: dict[str, Any]) -> str:
        """The template with operands; `LookupError` if there are none."""
        first: list[Any] = []
        last: list[Any] = [None]

        def fill(match: re.Match[str]) -> str:
            kind, rng = match[1], self.random
            rank = first[0].shape.rank if first else 1
            if kind == "a":
                return str(rng.randint(-rank, rank - 1) if rank else 0)
            if kind == "l":
                axes = rng.sample(range(rank), rng.randint(0, rank))
                return str(rng.choice([None, axes, axes[0] if axes else None]))
            if kind == "k":
                return str(rng.randint(-2, 2))
            if kind == "u":
                return str(rng.randint(1, 3))
            if kind == "g":
                return f"{self.state}.handle"
            if kind == "d":
                return f"tf.{rng.choice(list(DTYPES)).name}"
            if kind == "s":
                name = self.choose(env, lambda v: v.dtype is last[0].dtype)
            elif kind == "m" and last[0] is not None and last[0].dtype in FLOATS:
                name = self.choose(env, lambda v: v.dtype is last[0].dtype and v.shape.rank == 2)
            else:
                name = self.choose(env, KINDS[kind])
            last[0] = self.value(env, name)
            first.append(last[0])
            return name

        return re.sub(r"<(\w)>", fill, template)

    # -- statements -------------------------------------------------------------------
    def suite(self, env: dict[str, Any], count: int, depth: int) -> list[Statement]:
        """Some statements; `env` has their names afterwards."""
        body: list[Statement] = []
        forms: list[tuple[int, Callable[..., bool]]] = [
            (62, self.expression),
            (16, self.catalogue_call),
            (7 if self.variables else 0, self.assignment),
        ]
        if depth:
            forms += [(5, self.branch), (7, self.loop), (4, self.lists)]
            forms += [(3, self.call), (4, self.gradient), (3, self.mapped)]
        if self.nested < MAX_NESTED:
            for weight, deep, function in families.STATEMENTS:
                if depth or not deep:
                    forms.append((weight, functools.partial(function, self)))
        self.nested += 1
        for _ in range(count):
            draw = self.random.choices([f for _, f in forms], [w for w, _ in forms])[0]
            for _ in range(4):
                with contextlib.suppress(LookupError):
                    if draw(body, env, depth):
                        break
        self.nested -= 1
        return body

    def expression(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """An expression of the public interface."""
        templates = ROUNDED if self.random.random() < 0.6 else EXACT
        if self.random.random() < 0.2:
            special = [*[MIXED] * self.mixed, *[LARGE] * self.large, *[RANDOM] * bool(self.state)]
            if special:
                templates = self.random.choice(special)
        template = self.random.choice(templates)
        return self.add(body, env, Line(self.name(), self.filled(template, env)))

    def catalogue_call(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """A call of one of the raw ops, with operands in the place of some of a sample's."""
        name, samples = self.random.choice(catalogue.pure())
        sample = self.random.choice(samples)
        before = dict(self.constants)
        inputs = calls.inputs_of(sample)
        fixed = (
            self.constant
            if name in catalogue.CONSISTENT
            else functools.partial(self._operand, env=env)
        )
        arguments: list[str] = []
        for key, given in inputs.items():
            if isinstance(given, list):
                parts = [fixed(a) for a in given]
                arguments.append(f"{key}=[{', '.join(parts)}]")
            else:
                arguments.append(f"{key}={fixed(given)}")
        for key, given in calls.attrs_of(sample).items():
            text = repr(given)
            if "dtype" in type(given).__name__.lower():
                text = f"tf.{given.name}"
            arguments.append(f"{key}={text}")
        call = f"tf.raw_ops.{name}({', '.join(arguments)})"
        after = self.run([Line("r", f"tf.nest.flatten({call})")], env)
        results = [i for i, r in enumerate(after["r"]) if self.keeps(r)] if after else []
        if results:
            index = self.random.choice(results)
            line = Line(self.name(), f"tf.nest.flatten({call})[{index}]")
            if self.add(body, env, line):
                return True
        self.constants = before
        return False

    def _operand(self, array: np.ndarray[Any, Any], env: dict[str, Any]) -> str:
        share = 0.15 if array.dtype.kind in "iub" else 0.6
        name = self.constant(array)
        if array.size and self.random.random() < share:
            dtype = tf.as_dtype(array.dtype)
            with contextlib.suppress(LookupError):
                found = self.choose(env, lambda v: v.dtype is dtype)
                return f"like({found}, {name})"
        return name

    def predicate(self, env: dict[str, Any]) -> str:
        """An expression that is a scalar bool tensor."""
        return self.filled(
            self.random.choice(
                [
                    "tf.reduce_any(<b>)",
                    "tf.reduce_all(<b>)",
                    "tf.reduce_sum(tf.cast(<r>, tf.float32)) > 0.5",
                    "tf.reduce_max(tf.abs(tf.cast(<f>, tf.float32))) < 3.0",
                    "tf.size(<t>) > 3",
                    "tf.reduce_sum(<i>) % 2 == 0",
                ]
            ),
            env,
        )

    def branch(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """`if` with values that both branches compute."""
        test = self.predicate(env)
        clauses: list[tuple[str, list[Statement]]] = []
        envs: list[dict[str, Any]] = []
        heads = [f"if {test}:", "else:"]
        if self.random.random() < 0.2:
            heads.insert(1, f"elif {self.predicate(env)}:")
        for head in heads:
            inner = dict(env)
            clauses.append((head, self.suite(inner, self.random.randint(1, 3), depth - 1)))
            envs.append(inner)
        for _ in range(self.random.randint(1, 2)):
            target = self.name()
            first = self.choose(envs[0], lambda v: True)
            same = functools.partial(_of_dtype, self.value(envs[0], first).dtype)
            for (_, suite), inner in zip(clauses, envs, strict=True):
                source = self.choose(inner, same)
                suite.append(Line(target, f"tf.identity({source})"))
        return self._block(body, env, Block(clauses))

    def _block(
        self, body: list[Statement], env: dict[str, Any], block: Statement, *more: Statement
    ) -> bool:
        """Appends statements with the names that their outermost clauses assign everywhere."""
        after = self.run([block, *more], env)
        if after is None:
            return False
        for name in _assigned([block, *more]):
            if name in after and self.keeps(after[name]):
                env[name] = after[name]
        body += [block, *more]
        return True

    def loop(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """A loop with loop-carried values."""
        rng = self.random
        carried = [self.choose(env, lambda v: True) for _ in range(rng.randint(1, 2))]
        targets = [self.name("c") for _ in carried]
        before: list[Statement] = [
            Line(t, f"tf.identity({c})") for t, c in zip(targets, carried, strict=True)
        ]
        counter, limit = self.name("i"), rng.randint(0, 4)
        inner = self.run(before, env)
        if inner is None:
            return False
        inner = {n: v for n, v in inner.items() if n in env or n in targets}
        inner[counter] = tf.constant(min(1, limit))
        kind = rng.choice(["range", "range", "rows", "while", "while", "python", "shape"])
        head = f"for {counter} in tf.range({limit}):"
        if kind == "rows":
            rows = self.choose(env, lambda v: v.shape.rank and v.shape[0] and v.shape[0] < 6)
            inner[counter] = self.value(env, rows)[0]
            head = f"for {counter} in {rows}:"
        elif kind == "while":
            before.append(Line(counter, "tf.constant(0)"))
            head = f"while {counter} < {limit}:"
            if rng.random() < 0.3:
                head = f"while {counter} < {limit} and {self.predicate(inner)}:"
        elif kind == "python":
            head = f"for {counter} in range({limit}):"
            inner[counter] = tf.constant(0)
        elif kind == "shape":
            rows = self.choose(env, lambda v: v.shape.rank and v.shape[0] < 6)
            head = f"for {counter} in tf.range(tf.shape({rows})[0]):"
        suite = self.suite(inner, rng.randint(1, 4), depth - 1)
        for target in targets:
            source = self.choose(inner, lambda v: v.dtype in KEPT)
            if _rank(self.value(inner, source).dtype) > _rank(inner[target].dtype):
                source = target  # a cast would not keep the value
            suite.append(Line(target, f"like({source}, {target})"))
        if kind == "while":
            suite.append(Line(counter, f"{counter} + 1"))
        elif rng.random() < 0.15:
            word = rng.choice(["break", "continue"])
            at = rng.randint(0, len(suite))
            suite.insert(
                at,
                Block(
                    [
                        (
                            f"if {self.predicate({**env, **{t: inner[t] for t in targets}})}:",
                            [Line("", word)],
                        )
                    ]
                ),
            )
        block = Block([(head, suite)])
        return self._loop(body, env, before, block, targets)

    def _loop(
        self,
        body: list[Statement],
        env: dict[str, Any],
        before: list[Statement],
        block: Block,
        targets: list[str],
    ) -> bool:
        after = self.run([*before, block], env)
        if after is None or not all(self.keeps(after[t]) for t in targets):
            return False
        env |= {t: after[t] for t in targets}
        body += [*before, block]
        return True

    def assignment(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """A variable is written, as a whole or in part."""
        name = self.random.choice(list(self.variables))
        variable = self.variables[name]
        source = self.choose(env, lambda v: v.dtype is variable.dtype)
        value = f"like({source}, {name})"
        forms = [f"{name}.assign({value})", f"{name}.assign_add({value})"]
        if variable.dtype is not tf.bool:
            forms.append(f"{name}.assign_sub({value} * tf.cast(0.5, {name}.dtype))")
        if variable.shape.rank:
            forms += [
                f"{name}.scatter_nd_add([[0]], {value}[:1])",
                f"{name}.scatter_nd_update([[0]], {value}[:1])",
                f"{name}[0].assign({value}[-1])",
                f"{name}[1:].assign({value}[1:])",
                f"{name}.scatter_sub(tf.IndexedSlices({value}[:1], [0]))",
            ]
        return self.add(body, env, Line("", self.random.choice(forms)))

    def lists(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """One or two TensorArrays that a loop fills, and what is read from them."""
        rng = self.random
        count, counter = rng.randint(1, 4), self.name("i")
        names = [self.name("ta") for _ in range(rng.randint(1, 2))]
        inner = dict(env)
        inner[counter] = tf.constant(0)
        suite = self.suite(inner, rng.randint(1, 3), depth - 1)
        before: list[Statement] = []
        reads: list[Statement] = []
        targets: list[str] = []
        for name in names:
            source = self.choose(inner, lambda v: True)
            dtype = self.value(inner, source).dtype
            size = "size=0, dynamic_size=True" if rng.random() < 0.5 else f"size={count}"
            before.append(Line(name, f"tf.TensorArray(tf.{dtype.name}, {size})"))
            suite.append(Line(name, f"{name}.write({counter}, {source})"))
            target = self.name()
            read = rng.choice(
                ["{}.stack()", "{}.stack()", "{}.concat()", "{}.read(0)", "{}.gather([0])"]
            )
            reads.append(Line(target, read.format(name)))
            targets.append(target)
        if rng.random() < 0.25:
            test = self.predicate(env)
            other: list[Statement] = [Line(t, f"tf.identity({t})") for t in targets]
            reads.append(
                Block(
                    [
                        (f"if {test}:", [Line(t, f"tf.reverse({t}, [])") for t in targets]),
                        ("else:", other),
                    ]
                )
            )
        block = Block([(f"for {counter} in tf.range({count}):", suite)])
        after = self.run([*before, block, *reads], env)
        if after is None or not all(self.keeps(after[t]) for t in targets):
            return False
        env |= {t: after[t] for t in targets}
        body += [*before, block, *reads]
        return True

    def call(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """A call of another function, of a new one or of one there is."""
        arguments = [self.choose(env, lambda v: True) for _ in range(self.random.randint(1, 3))]
        kinds = [self._kind(self.value(env, a)) for a in arguments]
        again = [f for f in self.functions if self.kinds[f.name] == kinds]
        if again and self.random.random() < 0.6:
            function = self.random.choice(again)
        else:
            function = self.function(arguments, env, depth - 1)
        targets = [self.name() for _ in function.results]
        text = f"{function.name}({', '.join(arguments)})"
        statements: list[Statement] = [Line(", ".join(targets), text)]
        after = self.run(statements, env)
        if after is None or not all(self.keeps(after[t]) for t in targets):
            return False
        env |= {t: after[t] for t in targets}
        body += statements
        return True

    def function(self, arguments: list[str], env: dict[str, Any], depth: int) -> Function:
        """A new function of values like these arguments."""
        parameters = [self.name("p") for _ in arguments]
        inner = {
            p: tf.convert_to_tensor(self.value(env, a))
            for p, a in zip(parameters, arguments, strict=True)
        }
        body = self.suite(inner, self.random.randint(1, 5), depth)
        late = list(inner)[-4:]
        results = self.random.sample(late, min(len(late), self.random.randint(1, 2)))
        function = Function(self.name("h"), parameters, body, results, self.random.choice(WRAPPERS))
        self.kinds[function.name] = [self._kind(self.value(env, a)) for a in arguments]
        return self._defined(function)

    @staticmethod
    def _kind(value: Any) -> tuple[Any, tuple[int, ...]]:
        return value.dtype, tuple(value.shape)

    def _defined(self, function: Function) -> Function:
        exec(function.render(False), self.space)
        self.functions.append(function)
        return function

    def mapped(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """A function of rows, mapped over a tensor."""
        rows = self.choose(env, lambda v: v.shape.rank and 0 < v.shape[0] < 9)
        after = self.run([Line("row", f"{rows}[0]")], env)
        if after is None:
            return False
        depth = self.random.choice([0, 0, depth - 1])
        function = self.function(["row"], {**env, "row": after["row"]}, depth)
        if len(function.results) > 1:
            self.functions.remove(function)
            function = self._defined(
                Function(function.name, function.parameters, function.body, function.results[:1])
            )
        result = self.run([Line("r", f"{function.name}(row)")], {**env, "row": after["row"]})
        if result is None:
            return False
        signature = f"tf.{result['r'].dtype.name}"
        forms = [f"tf.map_fn({function.name}, {rows}, fn_output_signature={signature})"]
        if not any("assign" in text_of([s]) or "scatter" in text_of([s]) for s in function.body):
            forms.append(f"tf.vectorized_map({function.name}, {rows})")
        return self.add(body, env, Line(self.name(), self.random.choice(forms)))

    def gradient(self, body: list[Statement], env: dict[str, Any], depth: int) -> bool:
        """Gradients, or gradients of gradients, of some statements."""
        rng = self.random
        sources = list(
            dict.fromkeys(
                [
                    self.choose(env, lambda v: v.dtype in (tf.float32, tf.float64))
                    for _ in range(rng.randint(1, 2))
                ]
            )
        )
        tape, target = self.name("t"), self.name("y")
        inner = dict(env)
        suite: list[Statement] = [Line("", f"{tape}.watch([{', '.join(sources)}])")]
        suite += self.suite(inner, rng.randint(1, 5), depth - 1)
        last = self.choose(inner, lambda v: v.dtype in FLOATS)
        suite.append(Line(target, f"tf.reduce_sum({last} * {last})"))
        results = [self.name("g") for _ in sources]
        text = f"{tape}.gradient({target}, [{', '.join(sources)}], unconnected_gradients='zero')"
        results_text = ", ".join(results) if len(results) > 1 else f"({results[0]},)"
        block = Block([(f"with tf.GradientTape() as {tape}:", suite)])
        after_block: list[Statement] = [Line(results_text, text)]
        after = self.run([block, *after_block], env)
        if after is None or not all(self.keeps(after[r]) for r in results):
            return False
        values = {r: after[r] for r in results}
        if rng.random() < 0.3:
            outer, second, again = self.name("t"), self.name("y"), self.name("g")
            nested = [
                Line("", f"{outer}.watch([{sources[0]}])"),
                block,
                *after_block,
                Line(second, f"tf.reduce_sum(tf.square({results[0]}))"),
            ]
            text = f"{outer}.gradient({second}, {sources[0]}, unconnected_gradients='zero')"
            gradient = Line(again, text)
            statements: list[Statement] = [
                Block([(f"with tf.GradientTape() as {outer}:", nested)]),
                gradient,
            ]
            twice = self.run(statements, env)
            if twice is not None and self.keeps(twice[again]):
                body += statements
                env |= {**values, again: twice[again]}
                return True
        env |= values
        body += [block, *after_block]
        return True

    # -- the whole --------------------------------------------------------------------
    def program(self) -> Program:
        """The program of the seed."""
        rng = self.random
        shapes = [*SHAPES, *LARGE_SHAPES * (3 if self.large else 0)]
        inputs = [self.array(self.dtype(), rng.choice(shapes)) for _ in range(rng.randint(1, 4))]
        names = [f"a{i}" for i in range(len(inputs))]
        for _ in range(rng.choice([0, 0, 1, 2, 3])):
            name, dtype = self.name("v"), rng.choice([tf.float32, tf.float32, tf.float64, tf.int32])
            self.variables[name] = tf.Variable(self.array(dtype, rng.choice(SHAPES)))
        if rng.random() < 0.1:
            self.state = self.name("v")
            self.variables[self.state] = tf.Variable(np.array([rng.randint(0, 99), 7, 11]))
        starts = {n: v.numpy() for n, v in self.variables.items()}
        self.space = {"tf": tf, "np": np, "like": like, "whole": whole, **self.variables}
        self.space |= {"wrapped": _undecorated, "compiled": _undecorated}
        env: dict[str, Any] = {n: tf.constant(a) for n, a in zip(names, inputs, strict=True)}
        body = self.suite(env, self.statements, 2)
        values = [n for n in env if n not in names] or names
        count = len(values) if rng.random() < 0.2 else min(len(values), rng.randint(1, 5))
        picked = {values[-1], *rng.sample(values, count)}
        results = sorted(picked, key=values.index)
        main = Function("f", names, body, results)
        again = [self.array(tf.as_dtype(a.dtype), a.shape) for a in inputs]
        grown = [
            self.array(tf.as_dtype(a.dtype), tuple(d + 1 if d > 1 else d for d in a.shape))
            for a in inputs
        ]
        empty = [self.array(tf.as_dtype(a.dtype), _emptied(a.shape, inputs)) for a in inputs]
        used = main.render() + "".join([f.render() for f in self.functions])
        functions = [f for f in self.functions if re.search(rf"\b{f.name}\b", used)]
        constants = {n: a for n, a in self.constants.items() if re.search(rf"\b{n}\b", used)}
        return Program(self.seed, main, functions, [inputs, again, grown, empty], starts, constants)


def _undecorated(function: Any) -> Any:
    return function


def _emptied(shape: tuple[int, ...], inputs: list[np.ndarray[Any, Any]]) -> tuple[int, ...]:
    """The shape with the longest dimension of all inputs empty."""
    longest = max([d for a in inputs for d in a.shape], default=0)
    return tuple(0 if d == longest > 1 else d for d in shape)


def _rank(dtype: Any) -> int:
    """Where a dtype stands: bool, integers, floats, complex numbers."""
    return (tf.bool, *INTEGERS).count(dtype) + 2 * (dtype in FLOATS) + 3 * (dtype in COMPLEX)


def _of_dtype(dtype: Any, value: Any) -> bool:
    return value.dtype is dtype


def _assigned(body: list[Statement]) -> list[str]:
    """Names that statements assign whatever branch is taken."""
    found: list[str] = []
    for statement in body:
        if isinstance(statement, Line):
            found += [n.strip(" (),") for n in statement.target.split(",") if n.strip(" (),")]
        elif len(statement.clauses) > 1:
            sets = [set(_assigned(suite)) for _, suite in statement.clauses]
            found += sorted(set.intersection(*sets))
    return found


def draw(seed: int) -> Program:
    """The program of a seed: ten to eighty statements, most of them few."""
    size = random.Random(seed).choice([5, 8, 8, 10, 12, 15, 20, 40])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Draw(seed, size).program()
