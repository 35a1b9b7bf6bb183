"""Colours of float32 pixels: RGB to HSV and back, adjustment of hue and saturation.

The arithmetic is that of `ops/image/color.py`, step by step, so that results have the same bits.
Red, green and blue of a group of pixels are one vector each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT, literal
from intaglio.native.runtime import entry

Run = Callable[..., Any]
Triple = tuple[str, str, str]

LANES = jit.WIDTH // 4


class _Pixels:
    """Arithmetic on one channel of one pixel, or of a vector of pixels."""

    def __init__(self, code: Code, lanes: int, number: str) -> None:
        self.code, self.lanes = code, lanes
        self.kind = "float" if lanes == 1 else f"<{lanes} x float>"
        # The argument of an adjustment: the shift of the hue, or the factor of the saturation.
        self.number = number if lanes == 1 else code.splat(lanes, "float", number)

    def constant(self, value: float) -> str:
        text = literal(float(np.float32(value)), FLOAT)
        return text if self.lanes == 1 else f"splat (float {text})"

    def _named(self, x: str | float) -> str:
        return x if isinstance(x, str) else self.constant(x)

    def _binary(self, instruction: str, x: str | float, y: str | float) -> str:
        return self.code.let(f"{instruction} {self.kind} {self._named(x)}, {self._named(y)}")

    def add(self, x: str | float, y: str | float) -> str:
        return self._binary("fadd", x, y)

    def sub(self, x: str | float, y: str | float) -> str:
        return self._binary("fsub", x, y)

    def mul(self, x: str | float, y: str | float) -> str:
        return self._binary("fmul", x, y)

    def div(self, x: str | float, y: str | float) -> str:
        return self._binary("fdiv", x, y)

    def test(self, relation: str, x: str, y: str | float) -> str:
        return self._binary(f"fcmp {relation}", x, y)

    def select(self, test: str, x: str | float, y: str | float) -> str:
        kind = "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"
        operands = ", ".join([f"{self.kind} {self._named(v)}" for v in (x, y)])
        return self.code.let(f"select {kind} {test}, {operands}")

    def extreme(self, relation: str, x: str, y: str | float) -> str:
        """The larger or smaller operand by `relation`; NaN if one is."""
        kind = "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"
        first, none = self.test(relation, x, y), self.test("uno", x, x)
        return self.select(self.code.let(f"or {kind} {first}, {none}"), x, y)

    def largest(self, x: str, y: str | float) -> str:
        return self.extreme("oge", x, y)

    def smallest(self, x: str, y: str | float) -> str:
        return self.extreme("ole", x, y)

    def clipped(self, x: str) -> str:
        return self.smallest(self.largest(x, 0.0), 1.0)

    def unary(self, name: str, x: str) -> str:
        suffix = "f32" if self.lanes == 1 else f"v{self.lanes}f32"
        return self.code.call(self.kind, f"llvm.{name}.{suffix}", (self.kind, x))

    # -- colours -----------------------------------------------------------------------

    def hue(self, colors: Triple, value: str, span: str) -> str:
        red, green, blue = colors
        wide = self.test("ogt", span, 0.0)
        step = self.div(1.0, self.mul(6.0, self.select(wide, span, 1.0)))
        of_red = self.mul(step, self.sub(green, blue))
        of_green = self.add(self.mul(step, self.sub(blue, red)), 2 / 6)
        of_blue = self.add(self.mul(step, self.sub(red, green)), 4 / 6)
        rest = self.select(self.test("oeq", green, value), of_green, of_blue)
        hue = self.select(self.test("oeq", red, value), of_red, rest)
        hue = self.select(wide, hue, 0.0)
        return self.select(self.test("olt", hue, 0.0), self.add(hue, 1.0), hue)

    def bounds(self, colors: Triple) -> tuple[str, str]:
        """The largest and the smallest channel."""
        red, green, blue = colors
        value = self.largest(self.largest(red, green), blue)
        return value, self.smallest(self.smallest(red, green), blue)

    def hsv(self, colors: Triple) -> Triple:
        value, least = self.bounds(colors)
        span = self.sub(value, least)
        light = self.test("ogt", value, 0.0)
        saturation = self.select(light, self.div(span, self.select(light, value, 1.0)), 0.0)
        return self.hue(colors, value, span), saturation, value

    def ramps(self, hue: str) -> Triple:
        sixths = self.mul(hue, 6.0)

        def away(center: float) -> str:
            return self.unary("fabs", self.sub(sixths, center))

        return (
            self.clipped(self.sub(away(3.0), 1.0)),
            self.clipped(self.sub(2.0, away(2.0))),
            self.clipped(self.sub(2.0, away(4.0))),
        )

    def rgb(self, colors: Triple) -> Triple:
        hue, saturation, value = colors
        rest = self.sub(1.0, saturation)
        red, green, blue = (
            self.mul(self.add(rest, self.mul(saturation, ramp)), value) for ramp in self.ramps(hue)
        )
        return red, green, blue

    def hue_adjusted(self, colors: Triple) -> Triple:
        value, least = self.bounds(colors)
        span = self.sub(value, least)
        hue = self.add(self.hue(colors, value, span), self.number)
        hue = self.sub(hue, self.unary("floor", hue))
        red, green, blue = (self.add(least, self.mul(span, ramp)) for ramp in self.ramps(hue))
        return red, green, blue

    def saturation_adjusted(self, colors: Triple) -> Triple:
        hue, saturation, value = self.hsv(colors)
        return self.rgb((hue, self.clipped(self.mul(saturation, self.number)), value))

    # -- memory ------------------------------------------------------------------------

    def loaded(self, pointer: str) -> Triple:
        code, lanes = self.code, self.lanes
        if lanes == 1:
            red, green, blue = (
                code.load("float", code.at("float", pointer, str(c)), 4) for c in range(3)
            )
            return red, green, blue
        kind = f"<{3 * lanes} x float>"
        whole = code.load(kind, pointer, 4)

        def plane(channel: int) -> str:
            mask = ", ".join([f"i32 {3 * i + channel}" for i in range(lanes)])
            return code.let(
                f"shufflevector {kind} {whole}, {kind} poison, <{lanes} x i32> <{mask}>"
            )

        return plane(0), plane(1), plane(2)

    def store(self, pointer: str, colors: Triple) -> None:
        code, lanes = self.code, self.lanes
        if lanes == 1:
            for channel, color in enumerate(colors):
                at = code.at("float", pointer, str(channel))
                code.do(f"store float {color}, ptr {at}, align 4")
            return
        one, two = self.kind, f"<{2 * lanes} x float>"
        pair = ", ".join([f"i32 {i}" for i in range(2 * lanes)])
        first, second = (
            code.let(f"shufflevector {one} {a}, {one} {b}, <{2 * lanes} x i32> <{pair}>")
            for a, b in (colors[:2], (colors[2], "poison"))
        )
        mask = ", ".join([f"i32 {c * lanes + i}" for i in range(lanes) for c in range(3)])
        whole = code.let(
            f"shufflevector {two} {first}, {two} {second}, <{3 * lanes} x i32> <{mask}>"
        )
        code.do(f"store <{3 * lanes} x float> {whole}, ptr {pointer}, align 4")


CONVERSIONS: dict[str, Callable[[_Pixels, Triple], Triple]] = {
    "hsv": _Pixels.hsv,
    "rgb": _Pixels.rgb,
    "hue": _Pixels.hue_adjusted,
    "saturation": _Pixels.saturation_adjusted,
}


def _kernel(name: str) -> Kernel:
    code = Code(name, entry.KERNEL)
    pixels, numbers = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(2))
    out, number = code.load("ptr", "%outs", 8), code.load("float", numbers, 4)
    count = code.integer("sub", "%to", "%from")
    behind = code.integer("add", "%from", code.integer("and", count, -LANES))
    for start, stop, lanes in (("%from", behind, LANES), (behind, "%to", 1)):
        p = _Pixels(code, lanes, number)
        with code.loop(start, stop, lanes) as i:
            at = code.integer("mul", i, 3)
            colors = CONVERSIONS[name](p, p.loaded(code.at("float", pixels, at)))
            p.store(code.at("float", out, at), colors)
    code.do("ret void")
    return Kernel(code, 2, unit=LANES)


LIBRARIES = {name: Library(lambda name=name: Source([_kernel(name)])) for name in CONVERSIONS}


def conversion(name: str) -> Run | None:
    """(pixels [..., 3] of float32, a number) to pixels, for a name of `CONVERSIONS`; None without a
    compiler."""
    if not entry.AVAILABLE:
        return None
    LIBRARIES[name].entry(name)

    def run(pixels: Any, number: float) -> Any:
        count = pixels.size // 3
        result = np.empty(pixels.shape, np.float32)
        kernel = LIBRARIES[name].entry(name, pixels.size >= entry.MIN_PARALLEL_ELEMENTS)
        numbers = np.array([number], np.float32)
        kernel.for_dims((count,))(entry.in_order(pixels), numbers, result)
        return result

    return run
