"""The builder of `scalar` rules with approximated functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from intaglio.base import later
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Builder, Kind, Lanes, Unsupported
from intaglio.native.vector_math import complex_functions
from intaglio.native.vector_math.complex_numbers import Complexes

# Functions that iterate.
ITERATED = ("igamma", "igammac", "betainc", "zeta", "polygamma")
# The functions of each module, or of a table in it. A module is imported when one of its functions is first
# emitted: a program's first kernel does not wait for the others.
HOMES: dict[str, tuple[str, ...]] = {
    "exponentials": ("exp", "expm1", "tanh", "log", "log1p"),
    "hyperbolic": ("sinh", "cosh", "asinh", "acosh", "atanh"),
    "trigonometric": ("sin", "cos", "tan"),
    "inverse_trigonometric": ("asin", "acos", "atan", "atan2"),
    "powers": ("power",),
    "error_functions": ("erf", "erfc", "ndtri", "erfinv"),
    "gamma_functions": ("lgamma", "digamma"),
    "bessel_functions:BESSEL": tuple([f"bessel_{k}" for k in (
        "i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1",
    )]),
    "special_integrals": ("dawson", "expint", "fresnel_cos", "fresnel_sin", "spence"),
    "incomplete_gamma": ITERATED,
}  # fmt: skip
HOME_OF = {name: home for home, names in HOMES.items() for name in names}


@functools.cache
def function(name: str) -> Callable[..., Lanes] | None:
    """The approximation of a function; None if there is none of this name."""
    home = HOME_OF.get(name)
    if home is None:
        return None
    found = later.named(f"intaglio.native.vector_math.{home}")
    return found[name] if ":" in home else getattr(found, name)


# The calling convention: results of eight vectors are returned in registers, not in memory.
CONVENTION = "x86_regcallcc" if jit.MACHINE == "x86_64" else "fastcc"
# The most vectors that are passed: where all 16 registers of a processor without AVX-512 are
# parameters, LLVM may schedule an instruction that needs one more between their copies, finds none
# and aborts the process.
MAX_ARGUMENTS = 8 if jit.MACHINE == "x86_64" and jit.WIDTH < 64 else 16

# The instructions of a function up to which more vectors are interleaved than two. Long functions have
# parallelism of their own: with four vectors the functions of Bessel take as long, and twice the time to
# compile.
MAX_INTERLEAVED_INSTRUCTIONS = 600
MIN_INTERLEAVED = 2


class Functions(Complexes):
    """The builder of `scalar` rules, with a method for each of `HOMES`.

    Each function is emitted once in a module and called: a call costs little beside the function,
    and a graph with many exponentials is compiled as fast as one with one.
    """

    def __getattr__(self, name: str) -> Any:
        found = function(name)
        if found is None:
            raise Unsupported(name)
        return lambda *operands: self._called(found, operands)

    def _called(self, function: Callable[..., Lanes], operands: tuple[Lanes, ...]) -> Lanes:
        kind = operands[0].kind
        if kind.letter == "c":
            return complex_functions.of(self, function.__name__, *operands)
        if kind.letter != "f":
            raise Unsupported(f"{function.__name__} of {kind.name}")
        if kind.short:
            wide = self._called(function, tuple(map(self.widened, operands)))
            return self.converted(wide, kind)
        most = 1 if function.__name__ in ITERATED else max(MAX_ARGUMENTS // len(operands), 1)
        if min(self.vectors, most) > MIN_INTERLEAVED:
            most = min(most, interleaved(function, kind, self.lanes, len(operands)))
        if self.vectors > most:
            return self._in_parts(function, operands, most)
        vector, count = self.vector(kind), self.vectors
        name = f"{function.__name__}_{kind.llvm}_{self.lanes}x{count}"
        group = f"{{ {', '.join([vector] * count)} }}"
        if name not in self.code.callees:
            self.code.callees[name] = self._written(function, name, kind, group, len(operands))
        arguments = ", ".join([f"{vector} {n}" for x in operands for n in x.names])
        result = self.code.let(f"call {CONVENTION} {group} @{name}({arguments})")
        names = [self.code.let(f"extractvalue {group} {result}, {i}") for i in range(count)]
        return Lanes(kind, tuple(names))

    def _in_parts(
        self, function: Callable[..., Lanes], operands: tuple[Lanes, ...], most: int
    ) -> Lanes:
        """A function of at most so many vectors at a time.

        A loop has as many iterations as its slowest lane needs: one vector at a time is best.
        """
        names: list[str] = []
        for at in range(0, self.vectors, most):
            parts = [Lanes(x.kind, x.names[at : at + most]) for x in operands]
            part = Functions(self.code, self.lanes, len(parts[0].names))
            names += part._called(function, tuple(parts)).names
        return Lanes(operands[0].kind, tuple(names))

    def _written(
        self, function: Callable[..., Lanes], name: str, kind: Kind, group: str, operands: int
    ) -> Code:
        vector = self.vector(kind)
        names_of_operands = [
            tuple([f"%{letter}{i}" for i in range(self.vectors)]) for letter in "xyz"[:operands]
        ]
        parameters = [f"{vector} {n}" for names in names_of_operands for n in names]
        code = Code(name, parameters, f"internal {CONVENTION} {group}")
        s = Builder(code, self.lanes, self.vectors)
        aggregate = "poison"
        result = function(s, *[Lanes(kind, names) for names in names_of_operands])
        for i, n in enumerate(result.names):
            aggregate = code.let(f"insertvalue {group} {aggregate}, {vector} {n}, {i}")
        code.do(f"ret {group} {aggregate}")
        return code


@functools.cache
def interleaved(function: Callable[..., Lanes], kind: Kind, lanes: int, operands: int) -> int:
    """The number of vectors that a function takes at a time: a power of two, of which long ones take few."""
    one = Functions(Code("one", []), lanes, 1)
    code = one._written(function, "one", kind, one.vector(kind), operands)
    fitting = MAX_INTERLEAVED_INSTRUCTIONS // len(code.text().splitlines())
    return max(1 << max(fitting, 1).bit_length() - 1, MIN_INTERLEAVED)
