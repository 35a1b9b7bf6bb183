"""Random programs of several lists: written in loops and branches, stacked, read, mapped, scanned.

Every array has a shape of its own, with few elements or with more than fit into registers, and
is written as a whole before it is read: eager arrays refuse what was never written.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

# Shapes of elements, each with an expression of that shape made of `x`, `y` and a scalar.
ELEMENTS = {
    (): "tf.reduce_mean(x) * {s}",
    (3,): "x[:, 0] * {s}",
    (5,): "y * {s} + x[0, 0]",
    (2, 4): "x[:2] + {s}",
    (6, 4): "tf.concat([x, x * {s}], 0)",
    (5, 5): "y[:, None] * y * {s}",
}
LENGTHS = ("2", "3", "n")


class Lists:
    """Draws the body of `f(x, y, n)`: float32[3, 4], float32[5] and an int32 from 2 to 4."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.counter = 0
        # By name: the shape of the elements and the length.
        self.arrays: dict[str, tuple[tuple[int, ...], str]] = {}
        self.stacks: list[str] = []

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def put(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def name(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    # -- expressions -------------------------------------------------------------------

    def number(self, index: str = "") -> str:
        """A scalar: of what there is, or of the loop that is running."""
        options = ["t", "0.5", "x[1, 2]", *[f"tf.reduce_mean({s})" for s in self.stacks]]
        if index:
            options += [f"(tf.cast({index}, tf.float32) + 1.0)"] * 3
        return self.pick(*options)

    def element(self, shape: tuple[int, ...], index: str = "") -> str:
        return ELEMENTS[shape].format(s=self.number(index))

    def some(self) -> str:
        return self.pick(*self.arrays)

    def condition(self, index: str = "") -> str:
        options = ["t > 0.1", "x[0, 0] > 0.0", "n > 2"]
        return self.pick(*options, *[f"{index} % 2 == 0"] * 2 * bool(index))

    # -- statements --------------------------------------------------------------------

    def new(self, indent: int, length: str) -> str:
        name, shape = self.name("a"), self.pick(*ELEMENTS)
        form = self.pick("", f", element_shape={list(shape)}")
        size = self.pick(f"{length}", "0, dynamic_size=True")
        self.put(
            indent, f"{name} = tf.TensorArray(tf.float32, {size}{form}, clear_after_read=False)"
        )
        self.arrays[name] = shape, length
        return name

    def filled(self, indent: int, count: int) -> None:
        """Several new arrays that one loop fills, perhaps reading what it has written."""
        length = self.pick(*LENGTHS)
        before = dict(self.arrays)
        names = [self.new(indent, length) for _ in range(count)]
        index = self.name("i")
        if self.pick(True, False):
            self.put(indent, f"for {index} in tf.range({length}):")
        else:
            self.put(indent, f"{index} = tf.constant(0)")
            self.put(indent, f"while {index} < {length}:")
        after = "    " * (indent + 1) + f"{index} += 1"
        for name in names:
            value = self.element(self.arrays[name][0], index)
            if self.pick(True, False, False):
                self.branches(indent + 1, name, index, index)
            else:
                self.put(indent + 1, f"{name} = {name}.write({index}, {value})")
            if self.pick(True, False):
                self.put(indent + 1, f"t += tf.reduce_mean({name}.read({index}))")
        if before and self.pick(True, False):
            self.inner(indent + 1, self.pick(*before))
        if "while" in self.lines[-1] or any(f"while {index} <" in s for s in self.lines):
            self.lines.append(after)

    def inner(self, indent: int, name: str) -> None:
        """A loop over an array that is whole."""
        shape, length = self.arrays[name]
        index = self.name("k")
        self.put(indent, f"for {index} in tf.range({length}):")
        if self.pick(True, False):
            self.put(indent + 1, f"{name} = {name}.write({index}, {self.element(shape, index)})")
        self.put(indent + 1, f"t += 0.1 * tf.reduce_mean({name}.read({index}))")

    def branches(self, indent: int, name: str, at: str, index: str = "") -> None:
        """An element that a condition chooses, or that is written in branches."""
        shape = self.arrays[name][0]
        self.put(indent, f"if {self.condition(index)}:")
        self.put(indent + 1, f"{name} = {name}.write({at}, {self.element(shape, index)})")
        self.put(indent, "else:")
        self.put(indent + 1, f"{name} = {name}.write({at}, {self.element(shape, index)})")

    def statement(self, indent: int) -> None:
        self.pick(
            self.fill,
            self.fill,
            self.read,
            self.stack,
            self.stack,
            self.use,
            self.write,
            self.map,
            self.scan,
            self.unstack,
            self.again,
        )(indent)

    def fill(self, indent: int) -> None:
        self.filled(indent, self.pick(1, 2, 2, 3))

    def read(self, indent: int) -> None:
        at = self.pick("0", "1", "(n - 1) % 2")
        self.put(indent, f"t += tf.reduce_mean({self.some()}.read({at}))")

    def stack(self, indent: int) -> None:
        self.stacked(indent, f"{self.some()}.stack()")
        self.put(indent, f"t += 0.1 * tf.reduce_max({self.stacks[-1]})")

    def stacked(self, indent: int, value: str) -> None:
        self.stacks.append(self.name("s"))
        self.put(indent, f"{self.stacks[-1]} = {value}")

    def use(self, indent: int) -> None:
        """A whole, or an element, that branches take."""
        name = self.some()
        used = self.pick(*self.stacks, f"{name}.stack()", f"{name}.read(1)")
        self.put(indent, f"if {self.condition()}:")
        self.put(indent + 1, f"t += tf.reduce_mean({used})")
        if self.pick(True, False):
            self.put(indent, "else:")
            self.put(indent + 1, f"t -= 0.5 * tf.reduce_sum({used})")

    def write(self, indent: int) -> None:
        self.branches(indent, self.some(), self.pick("0", "1"))

    def map(self, indent: int) -> None:
        rows = self.pick("x", "y", "tf.concat([x, x], 1)")
        self.stacked(indent, f"tf.map_fn(lambda e: tf.abs(e) * {self.number()}, {rows})")

    def scan(self, indent: int) -> None:
        rows = self.pick("x", "y", "tf.concat([x, x * t], 1)")
        self.stacked(indent, f"tf.scan(lambda a, e: a * 0.5 + e * {self.number()}, {rows})")

    def unstack(self, indent: int) -> None:
        """An array that shares the memory of its rows until it is written to."""
        name, (rows, length) = self.name("a"), self.pick(("x", "3"), ("y", "5"))
        made = f"tf.TensorArray(tf.float32, {length}, clear_after_read=False)"
        self.put(indent, f"{name} = {made}.unstack({rows})")
        self.put(indent, f"t += tf.reduce_mean({name}.read(1))")
        self.put(indent, f"{name} = {name}.write(0, {rows}[1] * {self.number()})")
        self.stacked(indent, f"{name}.stack()")

    def again(self, indent: int) -> None:
        self.inner(indent, self.some())


def write(made: Lists) -> str:
    """The source of a function that returns a scalar and stacks."""
    made.put(0, "def f(x, y, n):")
    made.put(1, "t = tf.reduce_mean(x)")
    made.filled(1, made.pick(2, 2, 3))
    for _ in range(made.pick(1, 2, 3, 4)):
        made.statement(1)
    rest = made.pick([], *[[f"{n}.stack()"] for n in made.arrays])
    made.put(1, f"return {', '.join(['t', *made.stacks, *rest])},")
    return "\n".join(made.lines) + "\n"


@st.composite
def programs(draw: Any) -> str:
    return write(Lists(draw))
