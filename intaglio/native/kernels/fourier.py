"""Fourier transforms of rows and columns, for lengths that are products of small primes.

A transform is a sequence of passes of Stockham's autosort algorithm: a pass of radix r computes
transforms of r elements and multiplies them by twiddle factors; the elements come out in order,
without a permutation. Real and imaginary parts are separate in between, on the stack. Lanes of a
vector are adjacent columns; in a row they are adjacent elements, which the first pass transposes so
that all other passes use whole vectors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels import fourier_any_length
from intaglio.native.kernels.fourier_butterflies import Complex, Vectors
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.sequence import Chain
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry

Run = Callable[..., Any]
# Functions that load and store the complex element at an index.
Load = Callable[[str], Complex]
Store = Callable[[str, Complex], None]

PRIMES = (3, 5, 7, 11, 13)
MIN_LANES = 4
# Two copies of a row, or of a block of columns, are on the stack; those of longer rows are in
# memory that the caller allocates.
MAX_STACK_BYTES, MAX_BYTES = 1 << 18, 1 << 25
# For fewer elements, and for shorter real rows, a transposed copy costs more than it saves.
MIN_COLUMN_ELEMENTS, MIN_REAL_LENGTH = 1 << 12, 64
# From so many elements on all threads divide the rows.
MIN_SHARED_ELEMENTS = 1 << 14


class Plan(NamedTuple):
    """A kernel: its elements' type, the length of its complex transforms, and its layout.

    `inner` is the number of columns (1: the transforms are of rows). `real` is "forward" or
    "inverse" where rows are real, of twice the length.
    """

    double: bool
    length: int
    inverse: bool
    inner: int
    real: str
    lanes: int
    radices: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the kernel."""
        kind = f"{self.real}_{self.inverse:d}{self.double:d}"
        return f"fourier_{kind}_{self.length}_{self.inner}_{self.lanes}"

    @property
    def spills(self) -> bool:
        """True if the copies of a row are in memory that the caller allocates."""
        return self.inner == 1 and self.length * self.bytes * 4 > MAX_STACK_BYTES

    @property
    def bytes(self) -> int:
        """The size of a real number."""
        return 8 if self.double else 4


def _radices(length: int) -> tuple[int, ...] | None:
    """Radices whose product is the length, small ones last; None for a large prime factor."""
    rest, found = length, list[int]()
    for prime in PRIMES:
        while rest % prime == 0:
            found.append(prime)
            rest //= prime
    if rest & (rest - 1):
        return None
    twos = rest.bit_length() - 1
    eights, more = divmod(twos, 3)
    if more == 1 and eights:  # 8 * 2 = 4 * 4
        return (*[8] * (eights - 1), 4, 4, *found)
    return (*[8] * eights, *[1 << more] * (more > 0), *found)


def plan_of(double: bool, length: int, inverse: bool, inner: int, real: str = "") -> Plan | None:
    """The kernel for complex transforms of a length; None if there is none."""
    widest = jit.WIDTH // (8 if double else 4)
    if length < 2 or length * (8 if double else 4) * 4 > MAX_BYTES:
        return None
    lanes = widest
    if inner > 1:
        while lanes > inner:
            lanes //= 2
        radices = _radices(length)
        if radices is None or lanes < MIN_LANES:
            return None
        if length * lanes * (8 if double else 4) * 4 > MAX_STACK_BYTES:
            return None
        return Plan(double, length, inverse, inner, real, lanes, radices)
    while lanes > 1 and (length % lanes or length < lanes * lanes):
        lanes //= 2
    rest = _radices(length // lanes)
    if lanes < MIN_LANES or rest is None or (real and length <= lanes):
        return None
    return Plan(double, length, inverse, 1, real, lanes, (lanes, *rest))


def _roots(size: int, powers: Any, sign: int) -> Any:
    """e ** (sign * 2 pi i * powers / size)."""
    return np.exp(sign * 2j * np.pi * (np.asarray(powers) % size) / size)


class _Tables:
    """Constants of a kernel, concatenated in one array."""

    def __init__(self) -> None:
        self._pieces: list[np.ndarray] = []
        self._size = 0

    def add(self, numbers: np.ndarray) -> int:
        """Adds real numbers; returns the index of the first."""
        start = self._size
        self._pieces.append(numbers.reshape(-1))
        self._size += numbers.size
        return start

    def array(self, dtype: Any) -> np.ndarray:
        """All constants as an array of a dtype."""
        return np.concatenate([*self._pieces, np.zeros(1)]).astype(dtype)


class _Builder:
    """Emits the kernel of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.tables = plan, _Tables()
        self.sign = 1 if plan.inverse else -1
        code = self.code = Code(plan.name, entry.KERNEL)
        self.v = Vectors(code, "double" if plan.double else "float", plan.lanes)
        self.source, self.table = (
            code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(2)
        )
        self.target = code.load("ptr", "%outs", 8)
        size = plan.length * (1 if plan.inner == 1 else plan.lanes)
        self._size = size
        self._planes: list[str] = []
        if not plan.spills:
            stack = f"alloca [{2 * size} x {self.v.kind}], align 64"
            self._planes = [code.first(stack) for _ in range(2)]

    # -- where elements are --------------------------------------------------------------

    def _loads(self, plane: int) -> Load:
        return functools.partial(self.v.load_apart, self._planes[plane], self._size)

    def _stores(self, plane: int) -> Store:
        return functools.partial(self.v.store_apart, self._planes[plane], self._size)

    def _add(self, x: str | int, y: str | int) -> str:
        return self.code.integer("add", x, y)

    def _times(self, x: str | int, y: str | int) -> str:
        return self.code.integer("mul", x, y)

    # -- the kernel ------------------------------------------------------------------------

    def write(self) -> Kernel:
        """The kernel of (data, tables) over rows, or over blocks of columns."""
        code = self.code
        with code.loop("%from", "%to") as number:
            if self.plan.inner == 1:
                self._row(number)
            else:
                self._columns(number)
        code.do("ret void")
        return Kernel(code, 2, 1 + self.plan.spills)

    def _columns(self, number: str) -> None:
        """A block of columns; the last one starts where it is whole, and overlaps the one before."""
        plan, code = self.plan, self.code
        blocks = -(-plan.inner // plan.lanes)
        outer = code.integer("sdiv", number, blocks)
        block = self._times(code.integer("srem", number, blocks), plan.lanes)
        column = code.least(block, plan.inner - plan.lanes)
        begin = self._add(self._times(outer, plan.length * plan.inner), column)

        def place(at: str) -> str:
            # In a block, the elements of a column are as far apart as there are lanes.
            row = code.integer("sdiv", at, plan.lanes)
            return self._add(begin, self._times(row, plan.inner))

        def load(at: str) -> Complex:
            return self.v.load_pairs(self.source, place(at))

        def store(at: str, x: Complex) -> None:
            self.v.store_pairs(self.target, place(at), self._scaled(x))

        self._passes(plan.length, plan.radices, plan.lanes, load, store, 0)

    def _scaled(self, x: Complex) -> Complex:
        plan = self.plan
        return self.v.scaled(x, 1 / plan.length) if plan.inverse and not plan.real else x

    def _row(self, number: str) -> None:
        plan, code = self.plan, self.code
        width = plan.length
        if plan.spills:
            copies = code.load("ptr", code.at("ptr", "%outs", "1"), 8)
            own = self._times(number, 4 * width)
            self._planes = [
                code.at(self.v.kind, copies, self._add(own, i * 2 * width)) for i in range(2)
            ]
        spectrum = self._times(number, width + 1 if plan.real else width)
        row = self._times(number, width)
        source = spectrum if plan.real == "inverse" else row
        if plan.real == "inverse":
            self._complex_spectrum(spectrum)
            self._transposing_pass(self._loads(0), self._stores(1))
        else:

            def load(at: str) -> Complex:
                return self.v.load_pairs(self.source, self._add(source, at))

            self._transposing_pass(load, self._stores(1))

        def last(at: str, x: Complex) -> None:
            self.v.store_pairs(self.target, self._add(row, at), self._scaled(x))

        rows, rest = plan.length // plan.lanes, plan.radices[1:]
        plane = self._passes(rows, rest, plan.lanes, self._loads(1), last, 1)
        if plan.real == "forward":
            self._real_spectrum(spectrum, plane)

    def _passes(
        self, length: int, radices: Sequence[int], stride: int, load: Load, last: Store, plane: int
    ) -> int:
        """Passes from `load`, which reads a plane or the input, to `last`, or to a plane if the
        rows are real.

        Returns the plane that has the result, if one has.
        """
        keeps = self.plan.real == "forward"
        for i, radix in enumerate(radices):
            final = i + 1 == len(radices)
            plane = 1 - plane
            store = self._stores(plane) if keeps or not final else last
            self._pass(length, radix, stride, load, store)
            load = self._loads(plane)
            length, stride = length // radix, stride * radix
        return plane

    def _pass(self, length: int, radix: int, stride: int, load: Load, store: Store) -> None:
        """One pass over `stride` interleaved transforms of a length."""
        code, v, others = self.code, self.v, length // radix
        powers = np.outer(np.arange(others), np.arange(1, radix))
        roots = _roots(length, powers, self.sign)
        start = self.tables.add(np.stack([roots.real, roots.imag], -1)) if others > 1 else 0
        with code.loop("0", str(others)) as p, code.loop("0", str(stride), v.lanes) as q:
            first = self._add(self._times(p, stride), q)
            x = [load(self._add(first, k * others * stride)) for k in range(radix)]
            y = v.transform(x, self.sign)
            if others > 1:
                there = self._times(p, 2 * (radix - 1))
                for k in range(1, radix):
                    at = self._add(there, start + 2 * (k - 1))
                    w = Complex(*[v.broadcast(self.table, self._add(at, j)) for j in range(2)])
                    y[k] = v.times(y[k], w)
            to = self._add(self._times(p, radix * stride), q)
            for k in range(radix):
                store(self._add(to, k * stride), y[k])

    def _blocks(self, start: int, stop: int, body: Callable[[str], None]) -> None:
        """Emits `body` for the first positions of vectors from `start` to `stop`; the last may
        overlap."""
        code, lanes = self.code, self.v.lanes
        with code.loop(str(start), str(stop), lanes) as at:
            body(code.least(at, stop - lanes))

    def _transposing_pass(self, load: Load, store: Store) -> None:
        """The first pass of a row, whose radix is the number of lanes."""
        v, radix = self.v, self.v.lanes
        others = self.plan.length // radix
        powers = np.outer(np.arange(1, radix), np.arange(others))
        roots = _roots(self.plan.length, powers, self.sign)
        start = self.tables.add(np.stack([roots.real, roots.imag], 1))

        def block(p: str) -> None:
            x = [load(self._add(p, k * others)) for k in range(radix)]
            y = v.transform(x, self.sign)
            for k in range(1, radix):
                at = self._add(p, start + 2 * (k - 1) * others)
                y[k] = v.times(y[k], v.load_apart(self.table, others, at))
            to = self._times(p, radix)
            for lane, row in enumerate(v.transposed(y)):
                store(self._add(to, lane * radix), row)

        self._blocks(0, others, block)

    # -- real rows ---------------------------------------------------------------------------

    def _real_spectrum(self, spectrum: str, plane: int) -> None:
        """The spectrum of a real row from that of its even elements plus i times its odd ones."""
        code, v, half = self.code, self.v, self.plan.length
        load = self._loads(plane)
        roots = _roots(2 * half, np.arange(half), -1) * 0.5
        start = self.tables.add(np.stack([roots.imag, -roots.real]))  # 0.5 * root / i

        def block(k: str) -> None:
            mirrored = code.integer("sub", half - (v.lanes - 1), k)
            x, y = load(k), v.reversed(load(mirrored))
            y = Complex(y.re, v.negative(y.im))
            even, odd = v.scaled(v.add(x, y), 0.5), v.sub(x, y)
            w = v.load_apart(self.table, half, self._add(k, start))
            v.store_pairs(self.target, self._add(spectrum, k), v.add(even, v.times(odd, w)))

        self._blocks(1, half, block)
        re, im = (v.scalar_at(self._planes[plane], n) for n in ("0", str(self._size)))
        zero = "0.0"
        v.store_scalar(self.target, spectrum, v.op("fadd", re, im, 1), zero)
        last = self._add(spectrum, half)
        v.store_scalar(self.target, last, v.op("fsub", re, im, 1), zero)

    def _complex_spectrum(self, spectrum: str) -> None:
        """The spectrum of even elements plus i times odd ones from that of a real row, scaled."""
        code, v, half = self.code, self.v, self.plan.length
        store, scale = self._stores(0), 0.5 / half
        roots = _roots(2 * half, np.arange(half), 1) * scale * 1j
        start = self.tables.add(np.stack([roots.real, roots.imag]))

        def block(k: str) -> None:
            mirrored = code.integer("sub", half - (v.lanes - 1), k)
            x = v.load_pairs(self.source, self._add(spectrum, k))
            y = v.reversed(v.load_pairs(self.source, self._add(spectrum, mirrored)))
            y = Complex(y.re, v.negative(y.im))
            w = v.load_apart(self.table, half, self._add(k, start))
            store(k, v.add(v.scaled(v.add(x, y), scale), v.times(v.sub(x, y), w)))

        self._blocks(1, half, block)
        first = v.scalar_at(self.source, self._times(spectrum, 2))
        last = v.scalar_at(self.source, self._times(self._add(spectrum, half), 2))
        for at, word in ((0, "fadd"), (self._size, "fsub")):
            number = v.op("fmul", v.op(word, first, last, 1), v.number(scale), 1)
            there = code.at(v.kind, self._planes[0], str(at))
            code.do(f"store {v.kind} {number}, ptr {there}, align {v.bytes}")


@functools.lru_cache(maxsize=256)
def _compiled(plan: Plan) -> tuple[Library, np.ndarray]:
    """The kernel of a plan, and its constants."""
    builder = _Builder(plan)
    kernel = builder.write()
    dtype = np.float64 if plan.double else np.float32
    return Library(lambda: Source([kernel])), builder.tables.array(dtype)


def transform(
    kind: str, double: bool, shape: tuple[int, ...], axes: int, length: int
) -> Run | None:
    """The function of an array that transforms its last axes; None if there is no kernel for one.

    `kind` is "fft", "ifft", "rfft" or "irfft", and `shape` that of the array. No axis is truncated
    or padded; the real one of "irfft" has the `length`. Rows may have any length.
    """
    if not entry.AVAILABLE or 0 in shape:
        return None
    real = {"rfft": "forward", "irfft": "inverse"}.get(kind, "")
    last = length if real else shape[-1]
    run = None if real and last % 2 else _chain(kind, double, shape, axes, last)
    if run is not None or axes > 1:
        return run
    run = _by_columns(kind, double, shape, last)
    if run is not None:
        return run

    def of_rows(padded: tuple[int, ...], inverse: bool) -> Run | None:
        return _chain("ifft" if inverse else "fft", double, padded, 1, padded[-1])

    return fourier_any_length.transform(kind, double, shape, last, of_rows)


def _chain(kind: str, double: bool, shape: tuple[int, ...], axes: int, last: int) -> Chain | None:
    """The kernels for all axes, one after the other; None if a length has none."""
    real = {"rfft": "forward", "irfft": "inverse"}.get(kind, "")
    inverse = kind in ("ifft", "irfft")
    rank = len(shape)
    spectrum = last // 2 + 1 if real else last
    before = range(rank - axes, rank - 1)
    lead = shape[:-1]
    plans = [
        plan_of(double, lead[a], inverse, math.prod((*lead[a + 1 :], spectrum))) for a in before
    ]
    rows = plan_of(double, last // 2 if real else last, inverse, 1, real)
    # A transform of one element is that element.
    steps = [(p, (*lead, spectrum)) for p, a in zip(plans, before, strict=True) if lead[a] > 1]
    own = (rows, (*lead, last if real == "inverse" else spectrum))
    steps = [*steps, own] if real == "inverse" else [own, *steps]
    chain = Chain(1)
    value = 0
    for plan, result in steps:
        if plan is None:
            return None
        value, *_ = chain.then(_step(plan, result), value, _compiled(plan)[1])
    return chain.returning(value)


def _by_columns(kind: str, double: bool, shape: tuple[int, ...], length: int) -> Run | None:
    """Rows whose length is a product of small primes but no multiple of the lanes, as columns of
    the transposed array."""
    lead, rows = shape[:-1], math.prod(shape[:-1])
    real = kind in ("rfft", "irfft")
    if rows * length < MIN_COLUMN_ELEMENTS or (real and length < MIN_REAL_LENGTH):
        return None
    plan = plan_of(double, length, kind in ("ifft", "irfft"), rows) if rows > 1 else None
    if plan is None:
        return None
    step, constants = _step(plan, (length, rows)), _compiled(plan)[1]
    wide = np.dtype("c16" if double else "c8")
    kept = length // 2 + 1 if kind == "rfft" else length

    def run(x: Any) -> Any:
        x = x.reshape(rows, x.shape[-1])
        if kind == "irfft":
            x = fourier_any_length.full_spectrum(x, length)
        columns = np.empty((length, rows), wide)
        columns[...] = x.T
        found = step(columns, constants)[:kept].T
        return np.ascontiguousarray(found.real if kind == "irfft" else found).reshape(*lead, kept)

    return run


def _step(plan: Plan, shape: tuple[int, ...]) -> Run:
    """The function of an array and the kernel's constants."""
    library, _ = _compiled(plan)
    per_row = 2 * plan.length if plan.real == "inverse" else plan.length + (plan.real != "")
    columns = plan.length * plan.inner
    count = math.prod(shape) // (per_row if plan.inner == 1 else columns)
    if plan.inner > 1:
        count *= -(-plan.inner // plan.lanes)
    shared = math.prod(shape) >= MIN_SHARED_ELEMENTS and count > 1
    kernel = library.entry(plan.name, shared).for_dims((count,))
    width = plan.bytes
    dtype = np.dtype(f"f{width}" if plan.real == "inverse" else f"c{2 * width}")
    if plan.spills:
        copies = (count, 4 * plan.length), np.dtype(f"f{width}")
        return entry.filling_all(kernel, [(shape, dtype), copies])
    return entry.filling(kernel, shape, dtype)
