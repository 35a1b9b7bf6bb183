"""What a node of a message claims, compared with its op's signature and with inference.

Machine code relies on the dtype, shape and number of every value, so that nothing of a message may
reach a graph that contradicts itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.graphdef import tensors
from intaglio.graphdef.declarations import MalformedError
from intaglio.opdef.op import Op
from intaglio.opdef.signature import Arg

# The attribute in which a message may say which shapes a node's outputs have.
OUTPUT_SHAPES = "_output_shapes"
# A list of inputs or outputs has fewer than this many.
MAX_LIST_LENGTH = 1 << 20


def check_attributes(op: Op, proto: Any, attrs: dict[str, Any]) -> None:
    """Raises MalformedError for an attribute that the op does not allow."""
    for name, allowed in op.limits.items():
        if attrs[name] is not None and attrs[name] not in allowed:
            raise MalformedError(
                f"node '{proto.name}' ({op.name}): '{name}' may not be {attrs[name]}"
            )


def check_inputs(op: Op, proto: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> None:
    """Raises MalformedError unless number and dtypes of the inputs are the signature's."""
    wanted = sum(_width(arg, attrs) for arg in op.sig.inputs)
    if wanted != len(inputs):
        raise MalformedError(
            f"node '{proto.name}' ({op.name}) has {len(inputs)} inputs, not {wanted}"
        )
    types: dict[str, Any] = {}
    at = 0
    for arg, (_, _, allowed) in zip(op.sig.inputs, op.slots, strict=True):
        n = _width(arg, attrs)
        for i, value in enumerate(inputs[at : at + n]):
            want = attrs[arg.types][i] if arg.types else arg.dtype
            if want is None and arg.var:
                want = types.setdefault(arg.var, _written(proto, arg.var, value.dtype))
            if want is not None and value.dtype is not want:
                raise MalformedError(
                    f"node '{proto.name}' ({op.name}): input '{arg.name}' is {value.dtype.name}, "
                    f"not {want.name}"
                )
            if allowed is not None and value.dtype not in allowed:
                raise MalformedError(
                    f"node '{proto.name}' ({op.name}): input '{arg.name}' may not be {value.dtype.name}"
                )
        at += n


def check_outputs(
    op: Op, proto: Any, inputs: Sequence[Any], outputs: Sequence[Any], attrs: dict[str, Any]
) -> None:
    """Raises MalformedError unless the outputs are those that signature and message declare."""
    where = f"node '{proto.name}' ({op.name})"
    types = {**op.types_of(inputs, attrs), **attrs}
    declared: list[Any] = []
    for arg in op.sig.outputs:
        if arg.types:
            declared += types[arg.types]
        else:
            declared += [arg.dtype or types.get(arg.var or "")] * _width(arg, types)
    found = [value.dtype for value in outputs]
    if len(found) != len(declared):
        raise MalformedError(f"{where} has {len(found)} outputs, not {len(declared)}")
    for i, (dtype, want) in enumerate(zip(found, declared, strict=True)):
        if want is not None and dtype is not want:
            raise MalformedError(f"{where}: output {i} is {dtype.name}, not {want.name}")
    if OUTPUT_SHAPES in proto.attr:
        _check_shapes(where, proto.attr[OUTPUT_SHAPES].list.shape, outputs)


def _check_shapes(where: str, declared: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Raises MalformedError for an output of another shape than the message says."""
    for i, (proto, value) in enumerate(zip(declared, outputs, strict=False)):
        dims = tensors.shape_of(proto)
        if not shapes.compatible(dims, value.dims):
            raise MalformedError(
                f"{where}: output {i} has the shape {shapes.text(value.dims)}, "
                f"and '{OUTPUT_SHAPES}' says {shapes.text(dims)}"
            )


def _written(proto: Any, variable: str, found: Any) -> Any:
    """The dtype that the message gives a type variable, or the one that an input has."""
    if variable not in proto.attr:
        return found
    return tensors.dtype_of(proto.attr[variable].type)


def _width(arg: Arg, attrs: dict[str, Any]) -> int:
    """The number of tensors of an input or output."""
    if arg.number:
        if not 0 <= attrs[arg.number] < MAX_LIST_LENGTH:
            raise MalformedError(f"'{arg.number}' is {attrs[arg.number]}")
        return attrs[arg.number]
    return len(attrs[arg.types]) if arg.types else 1
