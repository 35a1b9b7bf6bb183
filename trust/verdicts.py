"""Runs a program every way that there is and compares what came out.

Which results of correct implementations differ in their last bits, and how far that spreads, is
found by Monte Carlo arithmetic (Parker, "Monte Carlo arithmetic", UCLA CSD-970002, 1997): the
program runs eagerly several times more, what each op that rounds takes and gives scaled by a random factor near 1.
Zeros become 0 or -0 at random, and numbers below the normal ones stay or become 0. An element whose perturbed values scatter is compared with a tolerance as wide as the scatter,
and one whose perturbed values are discrete or not finite, and differ, is not compared.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

import intaglio
from intaglio import tf, xla
from intaglio.function import versions
from intaglio.native import fallback, perturbation, tiers
from intaglio.opdef import door
from trust.programs import Program, load, namespace

SAMPLES, MORE_SAMPLES = 2, 14
# Relative width of a perturbation, in units of the last place.
PERTURBED_ULPS = 3.0
FLOATING = {
    np.dtype(d.as_numpy_dtype): PERTURBED_ULPS
    * float(ml_dtypes.finfo(d.real_dtype.as_numpy_dtype).eps)
    for d in (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128)
}
ULPS = {2: 6.0, 4: 48.0, 8: 48.0}
# Smaller than any of these is zero to some of the functions that programs use.
TINY = {2: 1e-6, 4: 1e-30, 8: 1e-280}
# Of dtypes of which native code makes no smaller numbers (docs/how-to/numbers-differ.md).
SMALLEST_NORMAL = {
    np.dtype(d.as_numpy_dtype): float(ml_dtypes.finfo(d.as_numpy_dtype).smallest_normal)
    for d in (tf.bfloat16, tf.float32, tf.float64)
}
# Refused by a graph that knows less of shapes or values, with words that say so.
REFUSALS = (
    "Cannot infer argument `num`", "non-fully-defined", "statically", "must be known",
    "known rank", "unknown rank", "fully defined", "shape invariant", "static",
    "gradient registry", "No gradient defined", "unsupported operations", "contains no shape",
)  # fmt: skip


@dataclasses.dataclass
class Finding:
    """One way of running that did not give what eager execution gave.

    `kind` is "wrong", "error" (a TensorFlow error where there is none), "internal" (an exception
    that TensorFlow does not raise) or "refused" (a documented limit of tracing).
    """

    kind: str
    mode: str
    text: str

    @property
    def signature(self) -> tuple[str, str, str]:
        """What the shrinker keeps: the kind, the mode, and of errors the class."""
        return self.kind, self.mode, "" if self.kind == "wrong" else self.text.split(":")[0]


Outcome = list[np.ndarray[Any, Any]] | BaseException


class Run:
    """The outcomes of the calls of a program, the variables' values among them."""

    def __init__(self, program: Program, calls: tuple[int, ...], make: Callable[..., Any]) -> None:
        self.outcomes: list[Outcome] = []
        variables = {n: tf.Variable(a) for n, a in program.variables.items()}
        try:
            function = make(program, variables)
        except Exception as e:
            self.outcomes = [e for _ in calls]
            return
        for index in calls:
            try:
                values = function(*[tf.constant(a) for a in program.inputs[index]])
                flat = [*tf.nest.flatten(values), *variables.values()]
                self.outcomes.append([tf.convert_to_tensor(v).numpy() for v in flat])
            except Exception as e:
                self.outcomes.append(e)
                if index == calls[0]:
                    self.outcomes += [e] * (len(calls) - len(self.outcomes))
                    return


def _identity(function: Any, jit_compile: bool = False) -> Any:
    return function


def eager(program: Program, variables: dict[str, Any]) -> Any:
    """The program as plain Python."""
    space = namespace(program, variables, _identity)
    return load(program.source(), space)


class Noise:
    """Scales floating-point numbers by random factors near 1, and gives zeros either sign."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._repeating = False

    def scaled(self, tensor: Any) -> Any:
        """A tensor with its numbers scaled."""
        if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            return tensor
        return tf.constant(self._scaled(tensor.numpy()), tensor.dtype)

    @contextlib.contextmanager
    def of_ops(self) -> Iterator[None]:
        """In the block, so are operands and results of eager ops that round, those of gradients among them."""
        door.INSPECTORS.append(self._inspect)
        door.STATE.shift(+1)
        try:
            yield
        finally:
            door.STATE.shift(-1)
            door.INSPECTORS.remove(self._inspect)

    def _inspect(self, op: Any, attrs: Any, inputs: Any, outputs: Any) -> Any:
        if perturbation.rounds(op) and door.level().eager and not self._repeating:
            arrays = self._repeated(op, attrs, inputs) or [t._array for t in outputs]
            for tensor, array in zip(outputs, arrays, strict=True):
                if np.shape(array) == np.shape(tensor._array):
                    tensor._array = self._scaled(array)  # in place: tapes have seen these tensors
        return outputs

    def _repeated(self, op: Any, attrs: Any, inputs: Any) -> list[Any]:
        """What the op gives for operands that are scaled, which tells how well conditioned it is."""
        self._repeating = True
        try:
            with door.eagerly():
                again = door.carry_out(op, [self.scaled(x) for x in inputs], attrs, "")
            return [t._array for t in again]
        except (tf.errors.OpError, ValueError, TypeError):
            return []
        finally:
            self._repeating = False

    def _scaled(self, array: Any) -> Any:
        dtype = getattr(array, "dtype", None)
        if dtype is None or dtype.kind not in "fcV" or dtype not in FLOATING:
            return array
        factor = 1.0 + FLOATING[dtype] * self._random.uniform(-1.0, 1.0, array.shape)
        scaled = (array * factor.astype(dtype)).astype(dtype)
        if dtype.kind == "c":
            return scaled
        lost = np.abs(scaled) < SMALLEST_NORMAL.get(dtype, 0.0)
        lost &= self._random.random(array.shape) < 0.5
        scaled = np.where(lost, dtype.type(0), scaled)
        zeros = self._random.choice([0.0, -0.0], array.shape).astype(dtype)
        return np.where(scaled == 0, zeros, scaled)


def perturbed(seed: int) -> Callable[..., Any]:
    """The program as plain Python, what is rounded scaled by factors near 1."""
    noise = Noise(seed)

    def make(program: Program, variables: dict[str, Any]) -> Any:
        space = namespace(program, variables, _identity)
        constants = {n: noise.scaled(space[n]) for n in program.constants}
        for variable in variables.values():
            variable.assign(noise.scaled(variable.read_value()))
        inner = load(program.source(), {**space, **constants})

        def call(*inputs: Any) -> Any:
            scaled = [noise.scaled(x) for x in inputs]
            with noise.of_ops():
                return inner(*scaled)

        return call

    return make


def traced(jit: bool, shapes: bool, ranks: bool = True) -> Callable[..., Any]:
    """The program as a `tf.function`; without `shapes` one trace is for all of them, without `ranks` for all ranks."""

    def make(program: Program, variables: dict[str, Any]) -> Any:
        function = load(program.source(), namespace(program, variables, tf.function))
        signature = None
        if not shapes:
            signature = [
                tf.TensorSpec([None] * a.ndim if ranks else None, a.dtype)
                for a in program.inputs[0]
            ]
        return tf.function(function, jit_compile=jit or None, input_signature=signature)

    return make


def by_xla(program: Program, variables: dict[str, Any]) -> Any:
    """The program as an XLA program, made at the first call."""
    run = traced(True, True)(program, variables)

    def call(*inputs: Any) -> Any:
        with intaglio.backend("xla"):
            return run(*inputs)

    return call


def changing_over(program: Program, variables: dict[str, Any]) -> Any:
    """The program as a `tf.function` that counts its calls: such become machine code."""
    function = load(program.source(), namespace(program, variables, tf.function))
    count = tf.Variable(0.0)

    @tf.function
    def step(*inputs: Any) -> Any:
        count.assign_add(1.0)
        return function(*inputs)

    return step


def in_threads(program: Program, variables: dict[str, Any]) -> Any:
    """The program as a `tf.function` that threads call at the same time."""
    run = traced(False, True)(program, variables)

    def call(*inputs: Any) -> Any:
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            calls = [pool.submit(run, *inputs) for _ in range(THREADS)]
            results = [c.result() for c in calls]
        first, *others = [[t.numpy().tobytes() for t in tf.nest.flatten(r)] for r in results]
        if any(o != first for o in others):
            raise RuntimeError("threads got different results")
        return results[0]

    return call


THREADS = 3
# Functions are compiled before their first call.
AHEAD = 0


@contextlib.contextmanager
def tier(calls: int | None) -> Iterator[None]:
    """Functions change over after so many calls and as many more, are compiled AHEAD, or never."""
    never = float("inf")
    thresholds: list[tuple[Any, str, float]] = [
        (tiers, "MIN_CALLS", calls or 1 << 30),
        (tiers, "MAX_CALLS", calls or 1 << 30),
        (tiers, "MIN_INTERPRETED_SECONDS", 0.0 if calls else never),
        (tiers, "HOT_SHARE", 0.0 if calls else never),
        (tiers, "MAX_HOT_SECONDS", 0.0 if calls else never),
        (tiers, "MAX_BREAK_EVEN_CALLS", never if calls == AHEAD else 0.0),
        (versions, "MIN_ELEMENTS", 0),
    ]
    saved = [(module, name, getattr(module, name)) for module, name, _ in thresholds]
    try:
        for module, name, value in thresholds:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in saved:
            setattr(module, name, value)


NO_RANK = "graph, no rank"
MODES: dict[str, tuple[Callable[..., Any], int | None]] = {
    "graph": (traced(False, True), None),
    "graph, None": (traced(False, False), None),
    NO_RANK: (traced(False, False, False), None),
    "change-over": (changing_over, 1),
    "ahead": (traced(False, True), AHEAD),
    "ahead, None": (traced(False, False), AHEAD),
    "jit": (traced(True, True), None),
    "jit, None": (traced(True, False), None),
    "threads": (in_threads, 1),
}
if xla.is_installed():
    MODES["xla"] = (by_xla, None)


class Judge:
    """Compares the runs of a program with its eager run."""

    def __init__(self, program: Program, modes: list[str] | None = None) -> None:
        self.program = program
        if modes is None:  # what several threads assign depends on their order
            modes = [m for m in MODES if m != "threads" or not program.variables]
        self.modes = modes
        self.compared = self.skipped = 0
        self.calls = tuple(c for c in program.calls if c < len(program.inputs))
        self._samples: list[Run] = []

    def findings(self) -> list[Finding]:
        """What differs; `ValueError` if the program fails eagerly at its first call."""
        with _quiet():
            self.want = Run(self.program, self.calls, eager)
            if isinstance(self.want.outcomes[0], BaseException):
                raise ValueError("fails eagerly") from self.want.outcomes[0]
            found: list[Finding] = []
            for mode in self.modes:
                make, calls = MODES[mode]
                with tier(calls):
                    got = Run(self.program, self.calls, make)
                finding = self._compared(mode, got)
                if finding is not None:
                    found.append(finding)
            return found

    def _compared(self, mode: str, got: Run) -> Finding | None:
        for call, (want, mine) in enumerate(zip(self.want.outcomes, got.outcomes, strict=True)):
            finding = self._call(mode, call, want, mine)
            if finding is not None:
                return finding
            if isinstance(want, BaseException) or isinstance(mine, BaseException):
                return None  # the variables may differ from here on
        return None

    def _call(self, mode: str, call: int, want: Outcome, mine: Outcome) -> Finding | None:
        if isinstance(mine, BaseException):
            text = f"{type(mine).__name__}: {mine}"
            if any(word in str(mine) for word in REFUSALS) or isinstance(mine, NotImplementedError):
                return Finding("refused", mode, text)
            if not isinstance(mine, (tf.errors.OpError, ValueError, TypeError)):
                if isinstance(want, BaseException) and type(mine) is type(want):
                    return None
                return Finding("internal", mode, f"{text} (call {call})")
            if isinstance(want, BaseException) or self._fails_perturbed(call):
                return None
            # A branch that is not taken, of other shapes; functions that want to know ranks.
            untraceable = self.calls[call] in self.program.reshaped or mode == NO_RANK
            if untraceable and "in user code" in text:
                return Finding("refused", mode, text)
            return Finding("error", mode, f"{text} (call {call})")
        if isinstance(want, BaseException):
            return None  # what is not needed is not computed
        if len(want) != len(mine):
            return Finding("wrong", mode, f"{len(mine)} results for {len(want)}")
        for i, (a, b) in enumerate(zip(want, mine, strict=True)):
            text = self._leaf(call, i, a, b)
            if text:
                return Finding("wrong", mode, f"call {call}, result {i}: {text}")
        return None

    def _fails_perturbed(self, call: int) -> bool:
        self._sample(MORE_SAMPLES)
        return any(isinstance(s.outcomes[call], BaseException) for s in self._samples)

    def _sample(self, count: int) -> None:
        while len(self._samples) < count:
            seed = self.program.seed * 100 + len(self._samples)
            self._samples.append(Run(self.program, self.calls, perturbed(seed)))

    def _leaf(self, call: int, index: int, a: Any, b: Any) -> str:
        if a.dtype == b.dtype and _never_written(a.shape, b.shape):
            return ""
        if a.dtype != b.dtype or a.shape != b.shape:
            self._sample(MORE_SAMPLES)
            for sample in self._samples:
                other = sample.outcomes[call]
                if isinstance(other, BaseException) or other[index].shape != a.shape:
                    return ""
            return f"{b.dtype} {b.shape} for {a.dtype} {a.shape}"
        if _same_bits(a, b):
            self.compared += a.size
            return ""
        for count in (SAMPLES, MORE_SAMPLES):
            self._sample(count)
            bad, unstable = self._differing(call, index, a, b)
            if bad is None or not bad.any():
                break
        if bad is None:
            self.skipped += a.size
            return ""
        self.skipped += int(unstable.sum())
        self.compared += int(a.size - unstable.sum())
        if not bad.any():
            return ""
        where = np.unravel_index(int(np.argmax(bad)), bad.shape) if bad.ndim else ()
        return (
            f"{b[where]!r} for {a[where]!r} at {[int(i) for i in where]} "
            f"({int(bad.sum())} of {bad.size} elements)"
        )

    def _differing(self, call: int, index: int, a: Any, b: Any) -> Any:
        others: list[Any] = []
        for sample in self._samples:
            values = sample.outcomes[call]
            if isinstance(values, BaseException) or values[index].shape != a.shape:
                return None, None
            others.append(values[index])
        return differing(a, b, others)


def differing(a: Any, b: Any, others: list[Any]) -> Any:
    """Which elements of `b` are wrong where `a` is right, and which are not to be compared.

    `others` are what perturbed runs computed, arrays of the same shape.
    """
    size = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
    eps = 2.0**-7 if a.dtype.kind not in "fc" else float(np.finfo(a.dtype).eps)
    tolerance = perturbation.Tolerance(ULPS.get(size, 0.0) * eps, TINY.get(size, 0.0))
    return perturbation.differing(a, b, others, tolerance)


def _never_written(eager: tuple[int, ...], graph: tuple[int, ...]) -> bool:
    """Whether these are shapes of the stack of a TensorArray that a loop has never written.

    Its elements have a shape in a graph only, where the loop's body says so: TensorFlow 2.21 likewise
    gives (0,) eagerly and (0, 17) in a graph.
    """
    return eager == (0,) and len(graph) > 1 and graph[0] == 0


def _same_bits(a: Any, b: Any) -> bool:
    return a.tobytes() == b.tobytes()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The compiler's errors are raised, warnings of the programs are not shown."""
    saved, fallback.VERIFY = fallback.VERIFY, True
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        fallback.VERIFY = saved
