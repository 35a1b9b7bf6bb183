"""Operands during lowering: values in registers, in memory, or constant."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import resource
from intaglio.ir.graph import SymbolicTensor
from intaglio.native.analysis.sizes import is_small, numeric
from intaglio.native.llvm.vectors import Kind, Lanes, Unsupported, kind_of
from intaglio.native.lowering.memory_plan import OUTSIDE, Block
from intaglio.opdef.spec import Spec


class Operand:
    """An operand of a rule: a dense value, a variable, a list, or its rows.

    A rule that takes others than dense values declares it with `takes`.
    """

    __slots__ = ()
    words = "a value"

    def finish(self, w: Any) -> None:
        """Prepares the operand as a result of the function. Raises Unsupported if it is none."""
        raise Unsupported(f"{self.words} as a result")

    def join(self, w: Any, blocks: Sequence[str], values: Sequence[Any]) -> Any:
        """The operand that one of several branches gives. Raises Unsupported by default."""
        raise Unsupported(f"branches that give {self.words}")


class Unknown(Operand):
    """A value that is in no memory, where all nodes without code are searched for.

    `reported` is True if it is the result of a node that was found, not a constant or an argument.
    """

    __slots__ = ("reported", "words")

    def __init__(self, words: str, reported: bool) -> None:
        self.words = words
        self.reported = reported

    @property
    def blocks(self) -> tuple[Block, ...]:
        """None: it is in no memory."""
        return ()

    def finish(self, w: Any) -> None:
        """Nothing: the function does not run."""


class ArrayOperand(Operand):
    """A value of a known shape: `known` as an array, in `lanes`, or at a `pointer`.

    In memory its elements are contiguous. `blocks` are those that may contain it, and that it keeps
    alive. A value that is only used by rows may have them strided, `apart` by so many bytes.
    """

    __slots__ = ("apart", "blocks", "kind", "known", "lanes", "pointer", "shape")
    words = "a tensor"

    def __init__(
        self,
        kind: Kind,
        shape: tuple[int, ...],
        *,
        lanes: Lanes | None = None,
        pointer: str = "",
        blocks: Sequence[Block] = (),
        known: Any = None,
    ) -> None:
        self.kind = kind
        self.shape = shape
        self.lanes = lanes
        self.pointer = pointer
        self.blocks = tuple(blocks)
        self.known = known
        self.apart = 0

    @property
    def count(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return self.count * self.kind.bytes

    @property
    def small(self) -> bool:
        """True if the value is held in registers."""
        return is_small(self.shape)

    @property
    def copy_key(self) -> tuple[Any, ...]:
        """The key that copies of the value share."""
        return self.shape, self.kind

    def elsewhere(self, w: Any) -> ArrayOperand:
        """A copy in memory of the plan."""
        copied = w.allocate(None, self.kind, self.shape)
        w.copy(self.pointer, copied.pointer, copied.bytes)
        return copied

    def reshaped(self, shape: tuple[int, ...]) -> ArrayOperand:
        """The same elements under another shape, in the same memory."""
        known = None if self.known is None else self.known.reshape(shape)
        return ArrayOperand(
            self.kind,
            shape,
            lanes=self.lanes,
            pointer=self.pointer,
            blocks=self.blocks,
            known=known,
        )


def known(dims: Any) -> tuple[int, ...]:
    """The dims. Raises Unsupported unless all are known."""
    if dims is None or None in dims:
        raise Unsupported("a shape that is not known")
    return tuple(dims)


def constant(array: Any) -> ArrayOperand:
    """A constant operand."""
    return ArrayOperand(kind_of(array.dtype), array.shape, known=array)


def agrees(operand: Any, value: SymbolicTensor, is_part: bool = False) -> bool:
    """True if an operand has the dtype and shape that its graph declares for the value.

    Lists and other operands declare nothing. Code reads and writes as many bytes as the operands
    have, and its caller allocates as many as the graph declares. Of an operand that is part of the
    value, for one of several threads, only the rank is compared.
    """
    if isinstance(operand, ArrayOperand):
        same = numeric(value.dtype) and operand.kind == kind_of(value.dtype.numpy)
        dims = value.dims
        if is_part and dims is not None:
            return same and len(dims) == len(operand.shape)
        return same and shapes.compatible(operand.shape, dims)
    if isinstance(operand, Variable):
        declared, found = value.spec.value, operand.spec
        return value.dtype is resource and (
            not isinstance(declared, Spec)
            or (declared.dtype is found.dtype and shapes.compatible(declared.shape, found.shape))
        )
    return True


class Variable(Operand):
    """A variable: the pointer to its value, and to the new value if it is written.

    A variable that is written has a block, which every value in its memory references as it would
    reference a block of the plan: so an assignment knows what it would overwrite.
    """

    __slots__ = ("block", "pointer", "spec", "target")
    words = "a variable"

    def __init__(self, spec: Any, pointer: str) -> None:
        self.spec = spec
        self.pointer = pointer
        self.target = ""
        self.block: Block | None = None

    def write_to(self, target: str) -> None:
        """Declares that the function writes the variable, to `target`."""
        self.target = target
        self.block = Block(OUTSIDE, 0)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that a value in the variable's memory references."""
        return () if self.block is None else (self.block,)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, which native code requires to be static."""
        return known(self.spec.shape)


def takes(*kinds: type[Operand]) -> Callable[[Any], Any]:
    """Declares that a rule takes such operands too, besides dense values."""

    def declared(rule: Any) -> Any:
        rule.operands = kinds
        return rule

    return declared


def checked(rule: Any, name: str, inputs: Sequence[Operand]) -> None:
    """Raises Unsupported for an operand that the rule of an op does not take."""
    allowed = (ArrayOperand, *getattr(rule, "operands", ()))
    for operand in inputs:
        if not isinstance(operand, allowed):
            raise Unsupported(f"{name} of {operand.words}")
