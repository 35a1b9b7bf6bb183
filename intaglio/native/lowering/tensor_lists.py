"""Tensor lists of a native function: elements of one shape in one block of memory.

A list without later users is updated in place, as a loop-carried one always is; another is copied
first, so that lists have value semantics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import DType, from_numpy
from intaglio.base.shapes import Dims
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.analysis.list_elements import READERS, element_of
from intaglio.native.analysis.sizes import is_small, numeric
from intaglio.native.llvm.builder import Phi
from intaglio.native.llvm.vectors import Kind, Lanes, Unsupported, dtype_of, kind_of
from intaglio.native.lowering.elementwise import add_to
from intaglio.native.lowering.function import FunctionLowering, Value
from intaglio.native.lowering.memory_plan import OUTSIDE, Block
from intaglio.native.lowering.operands import ArrayOperand, Operand, known, takes
from intaglio.native.lowering.rules import lowering
from intaglio.opdef import raw
from intaglio.ops.control_flow.tensor_list import dims_of_form

# The memory for lists of unknown length: pages that are not touched cost nothing.
MAX_BYTES = 1 << 25
MAX_LIST_CAPACITY = 1 << 16
MAX_LIMITED_BYTES = 1 << 28
GAP_BYTES = 3 << 6


class Declared(NamedTuple):
    """The declaration of a list: its largest size (-1 for none) and its elements' shape.

    The elements may have a more specific shape. The declaration of an input is known
    when the function is called: `source` is the number of that input, `limit` a name.
    """

    limit: str = "-1"
    dims: Dims = None
    source: int = -1


class ListOperand(Operand):
    """A list: the pointer of its elements, its size (i64) and its capacity.

    An empty list has no memory before its first use. A `tight` one has no capacity for more.
    """

    __slots__ = (
        "apart",
        "blocks",
        "capacity",
        "counted",
        "declared",
        "element",
        "kind",
        "next",
        "owned",
        "pointer",
        "size",
        "tight",
    )
    words = "a list"

    def __init__(
        self,
        kind: Kind,
        element: tuple[int, ...],
        pointer: str,
        size: str,
        capacity: int,
        blocks: Sequence[Block],
        declared: Declared,
        owned: bool = True,
    ) -> None:
        self.kind = kind
        self.element = element
        self.pointer = pointer
        self.size = size
        self.capacity = capacity
        self.blocks = tuple(blocks)
        self.owned = owned
        self.declared = declared
        self.tight = False
        # The stride of the elements in bytes, if they are parts of larger ones.
        self.apart = 0
        # The offset of its size in the function's memory, if the list is a result.
        self.counted = 0
        # The pointer of the next element, if it is written there before it is pushed.
        self.next = ""

    @property
    def form(self) -> tuple[Any, ...]:
        """The key that interchangeable lists share."""
        return self.kind, self.element, self.declared

    @property
    def bytes(self) -> int:
        """The size of an element: a byte for one without numbers, whose list has a length all the same."""
        return _bytes(self.kind, self.element)

    def like(self, size: str, owned: bool | None = None) -> ListOperand:
        """The same elements with another size."""
        kept = self.owned if owned is None else owned
        operand = ListOperand(
            self.kind,
            self.element,
            self.pointer,
            size,
            self.capacity,
            self.blocks,
            self.declared,
            kept,
        )
        operand.tight, operand.apart = self.tight, self.apart
        return operand

    def finish(self, w: FunctionLowering) -> None:
        """Stores the number of elements for the caller, who finds them in a block of this list
        alone."""
        if not self.owned or not _begins_block(w, self):
            copy = copied(w, self)
            self.pointer, self.blocks = copy.pointer, copy.blocks
        pointer, block = w.allocate_bytes(8)
        self.counted = block.offset
        w.code.do(f"store i64 {self.size}, ptr {pointer}, align 8")

    @property
    def copy_key(self) -> tuple[Any, ...]:
        """The key that copies of the list share."""
        return self.element, self.size, self.kind

    def elsewhere(self, w: FunctionLowering) -> ListOperand:
        """A copy in memory of the plan, which may have several users."""
        return copied(w, self).borrowed()

    def borrowed(self) -> ListOperand:
        """The list for a user that must not update it."""
        return self.like(self.size, owned=False)

    def address_of(self, w: FunctionLowering, index: str) -> str:
        """The pointer of an element."""
        offset = w.code.integer("mul", index, self.apart or self.bytes)
        return w.code.at("i8", self.pointer, offset)

    def join(
        self, w: FunctionLowering, blocks: Sequence[str], values: Sequence[ListOperand]
    ) -> ListOperand:
        """The list of the branch that was taken."""
        if any(v.pointer != self.pointer or v.form != self.form for v in values):
            raise Unsupported("branches that give unlike lists")
        phi = w.code.phi("i64")
        w.code.arrive(phi, *zip([v.size for v in values], blocks, strict=True))
        for other in values[1:]:
            w.release(other)
        return self.like(phi.name, all(v.owned for v in values))


def _bytes(kind: Kind, element: tuple[int, ...]) -> int:
    return max(ArrayOperand(kind, element).bytes, 1)


def _begins_block(w: FunctionLowering, operand: ListOperand) -> bool:
    """True if the elements start where a block of the function's memory starts."""
    if len(operand.blocks) != 1 or operand.blocks[0].offset == OUTSIDE:
        return False
    return operand.pointer == w.within(w.memory, operand.blocks[0].offset)


class CarriedList:
    """A loop-carried list: it is updated in place, only its size changes."""

    next = ""

    def __init__(
        self,
        w: FunctionLowering,
        first: ListOperand,
        used_later: bool,
        body: Graph,
        index: int,
        iterations: int,
    ) -> None:
        """A loop variable of a body that runs `iterations` times, if that is known; else they are 0."""
        value = body.inputs[index]
        changed = not only_read(body, value)
        tight = first.tight and not never_grows(body, value)
        pushes = iterations if pushed(body, index) else 0
        self.w = w
        self.changed = changed
        self.tight = False
        if changed and pushes and first.size == "0" and pushes * first.bytes <= MAX_LIMITED_BYTES:
            self.list = _of_capacity(w, first, pushes)
            self.tight = True
        elif not changed or (first.owned and not tight and not used_later):
            self.list = w.retain(allocated(w, first))
        else:
            self.list = copied(w, first)
        self.phi: Phi
        self.same = False

    def head(self) -> ListOperand:
        """The list at the start of an iteration."""
        self.phi = self.w.code.phi("i64")
        return self.list.like(self.phi.name, owned=self.changed)

    def iteration(self, result: Value) -> tuple[str, ...]:
        """The incoming size for the next iteration. Raises Unsupported for a list that was copied."""
        if not isinstance(result, ListOperand) or result.pointer != self.list.pointer:
            raise Unsupported("a loop that makes another list in each iteration")
        if result.form != self.list.form:
            raise Unsupported("a loop that gives a list of other elements")
        self.same = result.size == self.phi.name
        return (result.size,)

    def close(self, before: str, back: str, names: tuple[str, ...]) -> None:
        """Completes the phi."""
        self.w.code.arrive(self.phi, (self.list.size, before), (names[0], back))

    def after(self, head: ListOperand) -> ListOperand:
        """The list after the loop."""
        # A copy: the pointer of the head's next element was computed within the loop.
        found = self.list if self.same else head.like(head.size)
        found.tight = self.tight or found.tight
        return found


# -- making lists ----------------------------------------------------------------------------


@lowering(raw.EmptyTensorList, raw.TensorListReserve)
@takes(ListOperand)
def new_list(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """EmptyTensorList and TensorListReserve."""
    form, number = inputs
    if form.known is None:
        raise Unsupported("a list whose element shape is data")
    if not numeric(node.attrs["element_dtype"]):
        raise Unsupported(f"a list of {node.attrs['element_dtype'].name}")
    kind = kind_of(node.attrs["element_dtype"].numpy)
    element = _element(w, dims_of_form(form.known), node.outputs[0])
    size, dims = "0", dims_of_form(form.known)
    if node.op is raw.EmptyTensorList:
        if number.known is None:
            raise Unsupported("a list whose limit is data")
        if number.known > 0:
            return [_limited(w, kind, element, Declared(str(int(number.known)), dims))]
        if not number.known:
            raise Unsupported("a list of no elements")
    elif number.known is not None:
        size = str(int(number.known))
    else:
        size = w.index(number)
    if size.startswith("-"):
        raise Unsupported("a list of less than no elements")
    return [_new(w, kind, element, size, Declared("-1", dims))]


def _limited(
    w: FunctionLowering, kind: Kind, element: tuple[int, ...], declared: Declared
) -> ListOperand:
    """An empty list with capacity for its limit."""
    each, limit = _bytes(kind, element), int(declared.limit)
    if limit * each > MAX_LIMITED_BYTES:
        raise Unsupported("a list whose limit is large")
    pointer, block = w.allocate_bytes(limit * each)
    return ListOperand(kind, element, pointer, "0", limit, [block], declared)


def _new(
    w: FunctionLowering, kind: Kind, element: tuple[int, ...], size: str, declared: Declared
) -> ListOperand:
    """A list of zeros, guarded not to exceed the capacity."""
    each = _bytes(kind, element)
    capacity = min(MAX_LIST_CAPACITY, max(MAX_BYTES // each, 1))
    if size == "0":
        return ListOperand(kind, element, "", size, capacity, (), declared)
    if size.isdigit():
        capacity = int(size) if int(size) > 1 else capacity
    pointer, block = w.allocate_bytes(capacity * each)
    found = ListOperand(kind, element, pointer, size, capacity, [block], declared)
    if not size.isdigit():
        w.guard(w.code.integer("icmp ult", size, capacity + 1))
    clear(w, pointer, w.code.integer("mul", size, each))
    return found


def clear(w: FunctionLowering, pointer: str, count: int | str) -> None:
    """Fills bytes with zeros."""
    w.code.zero(pointer, str(count))


def zeros(w: FunctionLowering, operand: ListOperand) -> ListOperand:
    """A list of as many zeros."""
    if operand.apart:
        raise Unsupported("zeros for elements that lie apart")
    known = operand.size.isdigit() and operand.size != "0"
    found = _of_capacity(w, operand, int(operand.size)) if known else _allocate_like(w, operand)
    found.tight, found.declared = known, operand.declared._replace(limit="-1")
    clear(w, found.pointer, w.code.integer("mul", operand.size, operand.bytes))
    return found


def copied(w: FunctionLowering, operand: ListOperand) -> ListOperand:
    """A copy of the list."""
    if operand.apart:
        raise Unsupported("a copy of a list whose elements lie apart")
    found = _allocate_like(w, operand)
    if operand.size == "0":
        return found
    w.code.copy(found.pointer, operand.pointer, w.code.integer("mul", operand.size, operand.bytes))
    return found


def _allocate_like(w: FunctionLowering, operand: ListOperand) -> ListOperand:
    """Memory for a list of the same length, which may grow further."""
    capacity = min(MAX_LIST_CAPACITY, max(MAX_BYTES // operand.bytes, 1))
    return _of_capacity(w, operand, max(operand.capacity, capacity))


def _of_capacity(w: FunctionLowering, operand: ListOperand, capacity: int) -> ListOperand:
    """Memory for a list of so many elements at most."""
    # Elements of one index in several lists should not map to the same cache sets.
    pointer, block = w.allocate_bytes(capacity * operand.bytes + GAP_BYTES)
    return ListOperand(
        operand.kind, operand.element, pointer, operand.size, capacity, [block], operand.declared
    )


def allocated(w: FunctionLowering, operand: ListOperand) -> ListOperand:
    """The list, with memory allocated."""
    if not operand.pointer:
        there = _allocate_like(w, operand)
        operand.pointer, operand.blocks, operand.capacity = (
            there.pointer,
            there.blocks,
            there.capacity,
        )
    return operand


def _element(w: FunctionLowering, dims: Any, value: SymbolicTensor) -> tuple[int, ...]:
    """The shape of a list's elements: as declared, or of a value that is put into it."""
    if not shapes.known(dims):
        dims = element_of(w.scopes[-1].graph, value)[1]
    return known(dims)


@lowering(raw.TensorListFromTensor)
@takes(ListOperand)
def from_tensor(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """The rows of a tensor as a list that shares its memory."""
    source = inputs[0]
    if not source.shape or not source.count:
        raise Unsupported("a list of no rows")
    count = source.shape[0]
    if source.pointer:
        pointer, blocks = source.pointer, w.retain(source).blocks
    else:
        pointer, block = w.allocate_bytes(source.bytes)
        w.store(source, pointer)
        blocks = (block,)
    return [
        ListOperand(
            source.kind,
            source.shape[1:],
            pointer,
            str(count),
            count,
            blocks,
            Declared("-1", source.shape[1:]),
            False,
        )
    ]


# -- changing lists --------------------------------------------------------------------------


def _owned_list(
    w: FunctionLowering, node: Node, operand: ListOperand, grows: bool = False
) -> ListOperand:
    """The list to be updated: the same if it has no other users, else a copy."""
    scope = w.scopes[-1]
    last = scope.last[id(node.inputs[0])] == scope.at
    if operand.owned and last and not (operand.tight and grows):
        return w.retain(allocated(w, operand))
    return copied(w, operand)


def _checked(operand: ListOperand, item: ArrayOperand) -> None:
    if item.shape != operand.element or item.kind != operand.kind:
        raise Unsupported("a list of elements of several shapes")


def _fits(operand: ListOperand, dtype: DType, dims: Dims) -> None:
    """Raises Unsupported if elements do not have the dtype and shape that their reader expects."""
    if dtype_of(operand.kind) != dtype.numpy or not shapes.compatible(dims, operand.element):
        raise Unsupported("a list whose elements are read as others")


@lowering(raw.TensorListSetItem)
@takes(ListOperand)
def set_item(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """TensorListSetItem."""
    operand, at, item = inputs
    _checked(operand, item)
    grows = node.attrs["resize_if_index_out_of_bounds"]
    operand, index, code = _owned_list(w, node, operand, grows), w.index(at), w.code
    if not grows:
        w.guard(code.integer("icmp ult", index, operand.size))
        w.store(item, operand.address_of(w, index))
        return [operand]
    if operand.apart:
        raise Unsupported("a list that grows whose elements lie apart")
    w.guard(code.integer("icmp ult", index, operand.capacity))
    following = code.integer("add", index, 1)
    beyond = code.integer("icmp sgt", following, operand.size)
    with code.when(beyond):
        start = operand.address_of(w, operand.size)
        gap = code.integer("sub", index, operand.size)
        clear(w, start, code.integer("mul", gap, operand.bytes))
    size = code.let(f"select i1 {beyond}, i64 {following}, i64 {operand.size}")
    w.store(item, operand.address_of(w, index))
    return [operand.like(size)]


@lowering(raw.TensorListPushBack)
@takes(ListOperand)
def push(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """TensorListPushBack."""
    operand, item = inputs
    _checked(operand, item)
    operand = _owned_list(w, node, operand, grows=True)
    w.store(item, operand.next or _address_of_next(w, operand))
    return [operand.like(w.code.integer("add", operand.size, 1))]


def _address_of_next(w: FunctionLowering, operand: ListOperand) -> str:
    """The pointer of a pushed element; guarded by capacity and limit."""
    # No limit is -1, which as an unsigned number is above every size.
    w.guard(w.code.integer("icmp ult", operand.size, operand.capacity))
    if operand.declared.limit != "-1":
        w.guard(w.code.integer("icmp ult", operand.size, operand.declared.limit))
    return operand.address_of(w, operand.size)


def dests_in_state(w: FunctionLowering, body: Graph, state: Sequence[Value]) -> dict[int, str]:
    """The destinations of the elements that a body pushes onto lists, by the ids of the values.

    Only the push may use such a list: the element is written before the list's size includes it.
    """
    users = walk.uses(body)
    inputs = {id(v) for v in body.inputs}
    found: dict[int, str] = {}
    for handle, operand in zip(body.inputs, state, strict=True):
        users_of = users.get(id(handle), [])
        if not isinstance(operand, ListOperand) or not operand.owned or len(users_of) != 1:
            continue
        if users_of[0].op is not raw.TensorListPushBack or any(v is handle for v in body.outputs):
            continue
        if users.get(id(users_of[0].outputs[0])):  # a user might update the element
            continue
        item = users_of[0].inputs[1]
        if (
            id(item) in inputs
            or id(item) in found
            or item.dims != operand.element
            or is_small(operand.element)
        ):
            continue
        operand.next = found[id(item)] = _address_of_next(w, operand)
    return found


@lowering(raw.AddN)
@takes(ListOperand)
def added(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """AddN of lists; elements that were never set are zeros."""
    first, *others = inputs
    if not all(isinstance(h, ListOperand) for h in inputs):
        raise Unsupported(node.op.name)
    if any(h.kind != first.kind or h.element != first.element for h in others):
        raise Unsupported("a sum of lists of several shapes")
    dtype = from_numpy(dtype_of(first.kind))
    again = sum(1 for v in node.inputs if v is node.inputs[0]) > 1
    total = copied(w, allocated(w, first)) if again else _owned_list(w, node, first)
    each = ArrayOperand(first.kind, first.element).count
    for operand in others:
        w.guard(w.code.integer("icmp eq", operand.size, total.size))
        count = w.code.integer("mul", operand.size, each)
        add_to(w, dtype, total.pointer, allocated(w, operand).pointer, count)
    return [total]


@lowering(raw.TensorListResize)
@takes(ListOperand)
def resized(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """TensorListResize: to fewer elements, or to more, which are zeros."""
    operand, size = inputs
    wanted = w.index(size)
    last = w.scopes[-1].last[id(node.inputs[0])] == w.scopes[-1].at
    if size.known is None and not (operand.owned and last):
        # Of a list with other users there are fewer elements, as in gradients, without a copy.
        operand = allocated(w, operand)
        w.guard(w.code.integer("icmp ule", wanted, operand.size))
        return [_first_elements(w, node, operand, wanted)]
    grown = _owned_list(w, node, operand, grows=True)
    w.guard(w.code.integer("icmp ult", wanted, grown.capacity + 1))
    missing = w.code.integer("sub", wanted, grown.size)
    missing = w.code.call("i64", "llvm.smax.i64", ("i64", missing), ("i64", "0"))
    clear(w, grown.address_of(w, grown.size), w.code.integer("mul", missing, grown.bytes))
    return [grown.like(wanted)]


def _first_elements(
    w: FunctionLowering, node: Node, operand: ListOperand, size: str
) -> ListOperand:
    """A list of fewer elements in the memory of the list that a node takes.

    If that has further users, an update of either of the two copies it.
    """
    scope = w.scopes[-1]
    if scope.last[id(node.inputs[0])] != scope.at:
        operand.owned = False
    return w.retain(operand).like(size)


# -- reading lists ---------------------------------------------------------------------------


def _element_at(
    w: FunctionLowering, node: Node, value: SymbolicTensor, operand: ListOperand, index: str
) -> ArrayOperand:
    """An element in place, or a copy if the list may be updated while it is used."""
    _fits(operand, value.dtype, value.dims)
    there = ArrayOperand(operand.kind, operand.element, pointer=operand.address_of(w, index))
    if not there.count:
        return _without_numbers(operand.kind, operand.element)
    if there.small:
        return w.in_registers(w.lanes(there), operand.element)
    if _stays(w.scopes[-1].graph, node, value):
        there.blocks = operand.blocks
        return w.retain(there)
    element = w.allocate(value, operand.kind, operand.element)
    w.store(there, element.pointer)
    return element


def _without_numbers(kind: Kind, shape: tuple[int, ...]) -> ArrayOperand:
    return ArrayOperand(kind, shape, known=np.zeros(shape, dtype_of(kind)))


# Ops that return a list whose elements are in the same memory.
SHARING = (raw.TensorListPopBack, raw.Identity)


def _stays(graph: Graph, node: Node, value: SymbolicTensor) -> bool:
    """True if nothing in the graph updates the list that a node reads, nor lists that contain it.

    A result of the graph may be kept for longer.
    """
    if any(v is value for v in graph.outputs):
        return False
    handles = [node.inputs[0]]
    while handles[-1].node.op in SHARING:
        handles.append(handles[-1].node.inputs[0])
    return all(only_read(graph, handle) for handle in handles)


def pushed(body: Graph, index: int) -> bool:
    """True if every iteration pushes one element onto a list that it passes on."""
    result, value = body.outputs[index], body.inputs[index]
    push = result.node
    return push.op is raw.TensorListPushBack and push.inputs[0] is value


def only_read(graph: Graph, value: SymbolicTensor) -> bool:
    """True if nothing in the graph updates a list, or one that shares its elements."""
    return _only(graph, value, lambda user: user.op in SHARING)


def never_grows(graph: Graph, value: SymbolicTensor) -> bool:
    """True if nothing in the graph makes a list longer."""
    return _only(
        graph,
        value,
        lambda user: (
            user.op in (*SHARING, raw.AddN)
            or user.attrs.get("resize_if_index_out_of_bounds") is False
        ),
    )


def _only(graph: Graph, value: SymbolicTensor, allowed: Callable[[Node], bool]) -> bool:
    """True if only such ops, and readers, use a list or lists derived from it."""
    handles = [value]
    while handles:
        handle = handles.pop()
        for user in graph.nodes:
            if user.op not in READERS and any(v is handle for v in user.inputs):
                if not allowed(user):
                    return False
                handles.append(user.outputs[0])
    return True


@lowering(raw.TensorListGetItem)
@takes(ListOperand)
def get_item(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """TensorListGetItem."""
    operand, at = allocated(w, inputs[0]), w.index(inputs[1])
    w.guard(w.code.integer("icmp ult", at, operand.size))
    return [_element_at(w, node, node.outputs[0], operand, at)]


@lowering(raw.TensorListPopBack)
@takes(ListOperand)
def pop(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """TensorListPopBack."""
    operand = allocated(w, inputs[0])
    w.guard(w.code.integer("icmp sgt", operand.size, 0))
    size = w.code.integer("sub", operand.size, 1)
    item = _element_at(w, node, node.outputs[1], operand, size)
    return [_first_elements(w, node, operand, size), item]


@lowering(raw.TensorListLength)
@takes(ListOperand)
def length(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """TensorListLength."""
    size = w.code.let(f"trunc i64 {inputs[0].size} to i32")
    vector = w.code.let(f"insertelement <1 x i32> poison, i32 {size}, i64 0")
    return [w.in_registers(Lanes(kind_of("i4"), (vector,)), ())]


class Rows(Operand):
    """The elements of a list as a tensor whose number of rows is dynamic.

    It can only be a result of the function: every other operand has a static shape.
    """

    __slots__ = ("blocks", "counted", "list")
    words = "a tensor whose number of rows is data"

    def __init__(self, operand: ListOperand) -> None:
        self.list = operand
        self.blocks = operand.blocks
        # The offset of its size in the function's memory.
        self.counted = 0

    def finish(self, w: FunctionLowering) -> None:
        """Stores their number. Raises Unsupported for another list's memory."""
        if len(self.blocks) != 1:
            raise Unsupported("rows of a list that is somebody else's")
        pointer, block = w.allocate_bytes(8)
        self.counted = block.offset
        w.code.do(f"store i64 {self.list.size}, ptr {pointer}, align 8")


@lowering(raw.TensorListStack)
@takes(ListOperand)
def stack(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """TensorListStack."""
    operand, wanted = inputs[0], node.attrs["num_elements"]
    dims = node.outputs[0].dims
    _fits(operand, node.outputs[0].dtype, dims and dims[1:])
    if operand.apart:
        raise Unsupported("a stack of elements that lie apart")
    count = int(operand.size) if operand.size.isdigit() else wanted
    if count < 0:
        last = w.scopes[-1].last[id(node.inputs[0])] == w.scopes[-1].at
        there = allocated(w, operand)
        # Rows start where their block does. They are a copy if the list is updated later.
        first = not there.blocks or _begins_block(w, there)
        rows = w.retain(there) if operand.owned and last and first else copied(w, operand)
        return [Rows(rows)]
    if count == 0 or (operand.size.isdigit() and wanted not in (-1, count)):
        raise Unsupported("a list of no elements, or too few")
    if not operand.size.isdigit():
        w.guard(w.code.integer("icmp eq", operand.size, count))
    scope = w.scopes[-1]
    shape = (count, *operand.element)
    if 0 in shape:
        return [_without_numbers(operand.kind, shape)]
    if operand.owned and scope.last[id(node.inputs[0])] == scope.at:
        w.retain(operand)
        return [ArrayOperand(operand.kind, shape, pointer=operand.pointer, blocks=operand.blocks)]
    result = w.allocate(node.outputs[0], operand.kind, shape)
    w.copy(operand.pointer, result.pointer, result.bytes)
    return [result]
