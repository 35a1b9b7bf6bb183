"""Batches of products: a kernel that calls that of one product for each."""

from __future__ import annotations

from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry

# The dims of the kernel of batched products before those of one: their number, and the strides from one
# product to the next in the three arrays; 0 where all share a matrix.
BATCH_DIMS = ("count", "left_step", "right_step", "result_step")


def products_by(name: str, kind: str, result: str) -> Code:
    """The products from `from` to `to` of a batch, each by the kernel `name`, of elements of a
    type. Its dims follow `BATCH_DIMS`, the number of its parts first."""
    code = Code(f"{name}_batch", entry.KERNEL)
    dims = entry.load_dims(code, (*BATCH_DIMS, "parts"))
    inner_dims = code.at("i64", "%dims", str(len(BATCH_DIMS)))
    ins, outs = code.let("alloca [2 x ptr]"), code.let("alloca ptr")
    arrays = [code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1)]
    arrays.append(code.load("ptr", "%outs", 8))
    pointers = [code.at("ptr", ins, "0"), code.at("ptr", ins, "1"), outs]
    with code.loop("%from", "%to") as number:
        for array, pointer, step in zip(arrays, pointers, BATCH_DIMS[1:], strict=True):
            element = result if step == "result_step" else kind
            at = code.at(element, array, code.integer("mul", number, dims[step]))
            code.do(f"store ptr {at}, ptr {pointer}, align 8")
        code.do(
            f"call void @{name}(ptr {ins}, ptr {outs}, ptr {inner_dims}, i64 0, i64 {dims['parts']})"
        )
    code.do("ret void")
    return code
