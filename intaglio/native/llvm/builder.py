"""The text of LLVM functions, written from top to bottom in static single assignment form."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

# 512-bit registers are used where the processor has them; LLVM prefers 256 bits otherwise.
ATTRIBUTES = 'nounwind "prefer-vector-width"="512"'


_NAMED = re.compile(r"%p\d+\b")


class Carried:
    """A loop's index and loop-carried values."""

    def __init__(self, index: str, values: list[str]) -> None:
        self.index = index
        self.values = values
        self.following: list[str] = []


class Phi:
    """A phi: a value that depends on the predecessor block."""

    def __init__(self, kind: str, name: str, line: int) -> None:
        self.kind = kind
        self.name = name
        self.line = line


class Code:
    """One function. Values are written as LLVM writes them: `%v3`, `42`, `splat (float 1.0)`."""

    def __init__(self, name: str, parameters: Sequence[str], returns: str = "void") -> None:
        self.name = name
        self._parameters = [*parameters]
        self._returns = returns
        self._firsts: list[str] = []
        self._named: dict[str, str] = {}  # values by the instruction that computes them
        # The instructions of the entry block.
        self.before: Callable[[], None] | None = None
        self._lines: list[str] = []
        self._count = 0
        self._block = "entry"
        self.declarations: set[str] = set()
        # Declarations of functions of the same module that this one calls, by name.
        self.callees: dict[str, Code] = {}
        # Whether a function of numbers is written out here whose last bits are not NumPy's.
        self.approximates = False

    def add_parameter(self, text: str) -> None:
        """Appends a parameter."""
        self._parameters.append(text)

    def let(self, text: str) -> str:
        """Emits an instruction; returns its result."""
        self._count += 1
        name = f"%v{self._count}"
        self.do(f"{name} = {text}")
        return name

    def named(self, text: str) -> str:
        """The result of an instruction in the entry block, which is emitted once, and only if it is used."""
        found = self._named.get(text)
        if found is None:
            found = self._named[text] = f"%p{len(self._named)}"
        return found

    def opaque(self, index: str) -> str:
        """An i64 opaque to LLVM: a loop's index from which only addresses are
        computed. Else LLVM's strength reduction takes a third of the compile time."""
        return self.let(f'call i64 asm "", "=r,0"(i64 {index})')

    def integer(self, instruction: str, x: str | int, y: str | int) -> str:
        """The result of an instruction on two i64: `integer("add", "%n", 1)`."""
        return self.let(f"{instruction} i64 {x}, {y}")

    def least(self, x: str | int, y: str | int) -> str:
        """The smaller of two signed i64."""
        below = self.integer("icmp slt", x, y)
        return self.let(f"select i1 {below}, i64 {x}, i64 {y}")

    def do(self, text: str) -> None:
        """Emits an instruction without result."""
        if self.before is not None:
            self.before()
        self._lines.append(f"  {text}")

    def call(self, returns: str, intrinsic: str, *arguments: tuple[str, str]) -> str:
        """Emits a call of an LLVM intrinsic; arguments are pairs of type and value."""
        types = ", ".join([kind for kind, _ in arguments])
        operands = ", ".join([f"{kind} {value}" for kind, value in arguments])
        self.declarations.add(f"declare {returns} @{intrinsic}({types})")
        call = f"call {returns} @{intrinsic}({operands})"
        if returns == "void":
            self.do(call)
            return ""
        return self.let(call)

    def label(self, name: str) -> None:
        """Begins a block."""
        self._lines.append(f"{name}:")
        self._block = name

    def new_label(self, what: str) -> str:
        """A new name for a block."""
        self._count += 1
        return f"{what}{self._count}"

    @property
    def signature(self) -> tuple[str, list[str]]:
        """The result type, and the parameters: pairs of type and name."""
        return self._returns, self._parameters

    @property
    def steps(self) -> int:
        """The number of instructions emitted so far."""
        return len(self._lines)

    @property
    def block(self) -> str:
        """The name of the block that is being written."""
        return self._block

    def jump(self, label: str) -> None:
        """Ends the block with an unconditional branch."""
        self.do(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Ends the block with a conditional branch."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")

    def phi(self, kind: str) -> Phi:
        """Emits a phi, which `arrive` completes once all predecessors are written."""
        return Phi(kind, self.let("phi"), len(self._lines) - 1)

    def arrive(self, phi: Phi, *sources: tuple[str, str]) -> None:
        """Sets the incoming values of a phi: pairs of a value and its block."""
        incoming = ", ".join([f"[ {value}, %{block} ]" for value, block in sources])
        self._lines[phi.line] = f"  {phi.name} = phi {phi.kind} {incoming}"

    def first(self, text: str) -> str:
        """Emits an instruction at the start of the entry block: an `alloca` must not be inside a loop."""
        self._count += 1
        name = f"%v{self._count}"
        self._firsts.append(f"  {name} = {text}")
        return name

    def replace(self, old: str, new: str) -> None:
        """Replaces text in the instructions of `first`, such as the size of an `alloca`."""
        self._firsts = [line.replace(old, new) for line in self._firsts]

    @contextmanager
    def carrying(
        self, start: str, stop: str, step: int | str, *carried: tuple[str, str]
    ) -> Generator[Carried]:
        """Emits a loop with loop-carried values: pairs of type and initial value.

        The body sets `following`; after the loop `values` are those of the last iteration.
        """
        head, body, after = map(self.new_label, ("head", "body", "after"))
        before = self._block
        self.do(f"br label %{head}")
        self.label(head)
        line = len(self._lines)
        index = self.let("phi")
        state = Carried(index, [self.let("phi") for _ in carried])
        more = self.let(f"icmp slt i64 {index}, {stop}")
        self.do(f"br i1 {more}, label %{body}, label %{after}")
        self.label(body)
        yield state
        following = self.let(f"add nsw i64 {index}, {step}")
        phis = [("i64", index, start, following)]
        phis += [
            (kind, name, first, later)
            for (kind, first), name, later in zip(
                carried, state.values, state.following, strict=True
            )
        ]
        for offset, (kind, name, first, later) in enumerate(phis):
            self._lines[line + offset] = (
                f"  {name} = phi {kind} [ {first}, %{before} ], [ {later}, %{self._block} ]"
            )
        self.do(f"br label %{head}")
        self.label(after)

    @contextmanager
    def loop(self, start: str, stop: str, step: int | str = 1) -> Generator[str]:
        """`for i in range(start, stop, step)` of i64; gives `i`."""
        with self.carrying(start, stop, step) as state:
            yield state.index

    @contextmanager
    def when(self, condition: str) -> Generator[None]:
        """Emits the block's instructions under a condition."""
        yes, after = self.new_label("when"), self.new_label("after")
        self.do(f"br i1 {condition}, label %{yes}, label %{after}")
        self.label(yes)
        yield
        self.do(f"br label %{after}")
        self.label(after)

    def load(self, kind: str, pointer: str, align: int) -> str:
        """Loads the value at a pointer."""
        return self.let(f"load {kind}, ptr {pointer}, align {align}")

    def zero(self, pointer: str, size: str) -> None:
        """Emits a memset of `size` bytes to zero."""
        table = ("ptr", pointer), ("i8", "0"), ("i64", size), ("i1", "false")
        self.call("void", "llvm.memset.p0.i64", *table)

    def copy(self, target: str, source: str, size: str) -> None:
        """Emits a memcpy of `size` bytes; source and target do not overlap."""
        table = ("ptr", target), ("ptr", source), ("i64", size), ("i1", "false")
        self.call("void", "llvm.memcpy.p0.p0.i64", *table)

    def at(self, kind: str, pointer: str, index: str) -> str:
        """The pointer to element `index`."""
        return self.let(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {index}")

    def splat(self, lanes: int, kind: str, value: str) -> str:
        """A vector with the value in every lane."""
        vector = f"<{lanes} x {kind}>"
        first = self.let(f"insertelement {vector} poison, {kind} {value}, i64 0")
        return self.let(
            f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer"
        )

    def text(self) -> str:
        """The text of the function."""
        parameters = ", ".join(self._parameters)
        head = f"define {self._returns} @{self.name}({parameters}) {ATTRIBUTES} {{\nentry:"
        body = "\n".join([*self._lines, "}"])
        used = {*_NAMED.findall(body)} if self._named else set[str]()
        named: list[str] = []
        for text, name in reversed(self._named.items()):
            if name in used:  # reversed order visits uses before definitions
                used |= {*_NAMED.findall(text)}
                named.append(f"  {name} = {text}")
        return "\n".join([head, *self._firsts, *reversed(named), body])


def module(functions: Sequence[Code]) -> str:
    """A module of functions with what they call and declare."""
    called = {name: c for f in functions for name, c in f.callees.items()}
    whole = [*called.values(), *functions]
    declared = sorted(set[str]().union(*[f.declarations for f in whole]))
    return "\n".join([*declared, *[f.text() for f in whole], ""])
