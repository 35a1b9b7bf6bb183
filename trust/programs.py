"""Programs as trees of statements, rendered to source text.

A program is a function `f` of tensors on some variables, with functions that it calls. Its tree
is what the shrinker edits; its text is what runs and what a finding prints.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import linecache
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np

from intaglio import tf

_numbers = itertools.count()
INDENT = "    "


@dataclasses.dataclass
class Line:
    """`target = text`, or the text alone where there is no target."""

    target: str
    text: str

    def render(self, indent: int) -> Iterator[str]:
        """The line of source."""
        yield INDENT * indent + (f"{self.target} = {self.text}" if self.target else self.text)


@dataclasses.dataclass
class Block:
    """A compound statement: clauses, each a head that ends in a colon and its statements."""

    clauses: list[tuple[str, list[Statement]]]

    def render(self, indent: int) -> Iterator[str]:
        """The lines of source."""
        for head, body in self.clauses:
            yield INDENT * indent + head
            yield from rendered(body, indent + 1)


Statement = Line | Block


def rendered(body: list[Statement], indent: int) -> Iterator[str]:
    """The lines of a suite, `pass` if it is empty."""
    if not body:
        yield INDENT * indent + "pass"
    for statement in body:
        yield from statement.render(indent)


def text_of(body: list[Statement]) -> str:
    """The source of statements at the outermost level."""
    return "\n".join(rendered(body, 0)) + "\n"


@dataclasses.dataclass
class Function:
    """A function that the program calls: a `tf.function` but in eager runs.

    Its results are copied: plain Python returns a variable where a graph returns its value.
    It is decorated with `wrapper`, "wrapped" or "compiled".
    """

    name: str
    parameters: list[str]
    body: list[Statement]
    results: list[str]
    wrapper: str = "wrapped"

    def render(self, decorated: bool = True) -> str:
        """The definition."""
        decorator = f"@{self.wrapper}\n" if decorated else ""
        results = ", ".join([f"tf.identity({n})" for n in self.results])
        lines = rendered([*self.body, Line("", f"return {results}")], 1)
        return f"{decorator}def {self.name}({', '.join(self.parameters)}):\n" + "\n".join(lines)


@dataclasses.dataclass
class Program:
    """A random program: `main` on inputs, with the variables and constants that it names.

    `inputs` has the arguments of several calls, one after the other.
    """

    seed: int
    main: Function
    functions: list[Function]
    inputs: list[list[np.ndarray[Any, Any]]]
    variables: dict[str, np.ndarray[Any, Any]]
    constants: dict[str, np.ndarray[Any, Any]]
    # Which of the inputs each call has; those of `reshaped` have shapes that it was not drawn for.
    calls: tuple[int, ...] = (0, 1, 0, 1, 0, 2, 2, 3, 3)
    reshaped: tuple[int, ...] = (2, 3)

    def source(self) -> str:
        """The definitions of the functions; `like` comes from the namespace."""
        rendered_ = [f.render() for f in self.functions]
        return "\n\n".join([*rendered_, self.main.render(False)]) + "\n"

    def script(self) -> str:
        """A program to read and to run: what defines its data, then its source."""
        used = self.source()
        lines = ["import numpy as np", "from intaglio import tf", ""]
        lines += [f"{n} = {_literal(a)}" for n, a in self.constants.items() if n in used]
        lines += [f"{n} = tf.Variable({_literal(a)})" for n, a in self.variables.items()]
        calls = [f"f({', '.join([_literal(a) for a in call])})" for call in self.inputs]
        return "\n".join([*lines, "", used, *[f"# {c}" for c in dict.fromkeys(calls)]]) + "\n"


def _literal(array: np.ndarray[Any, Any]) -> str:
    kind = array.dtype.name
    values = array.tolist()
    if array.dtype.kind == "V" or kind in ("bfloat16", "float16"):
        values = array.astype(np.float64).tolist()
    text = f"np.array({values!r})" if array.size else f"np.zeros({array.shape})"
    if array.dtype.kind == "O":
        text, kind = f"np.array({values!r}, object).reshape({array.shape})", "string"
    return f"tf.constant({text}, tf.{kind})".replace("nan", "np.nan").replace("inf", "np.inf")


def like(x: Any, y: Any) -> Any:
    """The elements of `x`, repeated or cut off, with the shape and dtype of `y`."""
    flat = tf.reshape(tf.cast(x, y.dtype), [-1])
    indices = tf.range(tf.size(y)) % tf.maximum(tf.size(flat), 1)
    return tf.reshape(tf.gather(flat, indices), tf.shape(y))


def within(x: Any, y: Any) -> Any:
    """Numbers between the least and the largest of `y`, which the elements of `x` decide."""
    given = like(tf.math.real(x) if x.dtype.is_complex else x, y)
    low, high = tf.reduce_min(y), tf.reduce_max(y)
    if y.dtype.is_integer:
        return low + tf.math.floormod(given, tf.maximum(high - low, 1))
    return low + (high - low) * tf.sigmoid(given)


def near(x: Any, y: Any) -> Any:
    """The numbers of `y` with some hundredths more or less, which the elements of `x` decide."""
    return y * (1 + tf.tanh(like(x, y)) / 64)


def whole(x: Any) -> Any:
    """Numbers as int32: cut at 1000, where NaN is 0."""
    x = tf.cast(x, tf.float32)
    finite = tf.where(tf.math.is_finite(x), x, tf.zeros_like(x))
    return tf.cast(tf.clip_by_value(finite, -1000.0, 1000.0), tf.int32)


def cut(x: Any, y: Any) -> Any:
    """The part of a matrix that another one has, too."""
    rows, columns = tf.unstack(tf.minimum(tf.shape(x), tf.shape(y)))
    return x[:rows, :columns]


def k0(x: Any) -> Any:
    """A number of a row of a matrix, which its elements decide."""
    return tf.cast(tf.abs(tf.tanh(x[0, 0])) * 4, tf.int32) % tf.shape(x)[0]


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    """The gradient of a function of `x`, zeros where it does not depend on it."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x, unconnected_gradients="zero")


def tangent(function: Callable[[Any], Any], x: Any) -> Any:
    """The derivative of a function of `x` in the direction of ones, by forward mode."""
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = function(x)
    return accumulator.jvp(y, unconnected_gradients="zero")


def jacobian(function: Callable[[Any], Any], x: Any) -> Any:
    """The derivatives of the first row of a function's result by the elements of `x`: a row for each."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)[0, :3]
    found = tape.jacobian(y, x, unconnected_gradients="zero")
    return tf.reshape(found, tf.stack([tf.shape(y)[0], tf.size(x)]))


def by_variables(function: Callable[[Any], Any], x: Any, *variables: Any) -> Any:
    """The gradients of a function of `x` by variables, flat and in a row."""
    with tf.GradientTape() as tape:
        y = function(x)
    found = tape.gradient(y, variables, unconnected_gradients="zero")
    return tf.concat([tf.reshape(tf.convert_to_tensor(g), [1, -1]) for g in found], 1)


def halved(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function with half its gradient."""

    def called(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        dx = tape.gradient(y, x, output_gradients=tf.ones_like(y), unconnected_gradients="zero")
        return tf.identity(y), lambda dy: dx * 0.5 * tf.reduce_mean(dy)

    return tf.custom_gradient(called)


def mat(results: Any, index: int, x: Any) -> Any:
    """A result of an op as a matrix of the dtype of `x`.

    Of complex numbers the real parts, of strings their digests, of large integers their remainders.
    """
    value = tf.nest.flatten(results)[index]
    if value.dtype is tf.string:
        value = tf.strings.to_hash_bucket_fast(value, 97)
    elif value.dtype.is_complex:
        value = tf.math.real(value)
    elif value.dtype.is_integer and value.dtype.size > 2:
        value = tf.math.floormod(value, 1009)
    value = tf.cast(value, x.dtype)
    shape = tf.concat([[1, 1], tf.shape(value)], 0)
    return tf.reshape(value, tf.stack([tf.reduce_prod(shape[:-1]), shape[-1]]))


# What the sources of programs name besides their own definitions.
NAMESPACE: dict[str, Any] = {
    "tf": tf,
    "np": np,
    "like": like,
    "within": within,
    "near": near,
    "whole": whole,
    "cut": cut,
    "k0": k0,
    "mat": mat,
    "slope": slope,
    "tangent": tangent,
    "jacobian": jacobian,
    "by_variables": by_variables,
    "halved": halved,
}


def load(source: str, space: dict[str, Any]) -> Any:
    """The function `f` that the source defines, with source lines that AutoGraph can read."""
    names = {**NAMESPACE, "__name__": "generated", **space}
    exec(_code(source), names)
    return names["f"]


@functools.lru_cache(maxsize=4)
def _code(source: str) -> CodeType:
    """Compiled source; AutoGraph converts the functions of one code object once for all modes."""
    filename = f"<random program {next(_numbers)}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)
    return compile(source, filename, "exec")


def namespace(
    program: Program, variables: dict[str, Any], wrapped: Callable[..., Any]
) -> dict[str, Any]:
    """What the source of a program names; `wrapped` is `tf.function`, or does nothing."""
    constants = {n: tf.constant(a) for n, a in program.constants.items()}

    def compiled(function: Any) -> Any:
        return wrapped(function, jit_compile=True)

    return {**constants, **variables, "wrapped": wrapped, "compiled": compiled}
