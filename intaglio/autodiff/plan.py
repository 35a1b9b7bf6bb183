"""The plan of an op's gradient rule, computed once per op: what a tape keeps, and how the rule is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes, shapes
from intaglio.base.dtypes import BY_NUMPY, DType
from intaglio.base.generated_code import GeneratedCode
from intaglio.base.shapes import Dims
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import door, raw
from intaglio.opdef.op import Op, Rule
from intaglio.opdef.signature import Arg
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import spec_of
from intaglio.runtime.executors import EXECUTORS, executor_of

# The dtypes of tensors that gradients flow through.
TRAINABLE = frozenset((*dtypes.DIFFERENTIABLE, dtypes.resource, dtypes.variant))
_TRAINABLE_STORED = frozenset([d.numpy for d in TRAINABLE])

# Maximum number of elements of zeros and ones that are constants in a graph.
MAX_CONSTANT_ELEMENTS = 128


def trainable(tensor: Any) -> bool:
    """True if gradients may flow through a tensor of this dtype."""
    if type(tensor) is SymbolicTensor:
        return tensor.spec.dtype in TRAINABLE
    if EXECUTORS and type(tensor) in EXECUTORS:  # its array is not on the host
        return tensor.dtype in TRAINABLE
    return tensor._array.dtype in _TRAINABLE_STORED


def light(tensor: Any) -> Any:
    """The part of a tensor that `spec_from` needs: of an eager tensor only dtype and shape."""
    if type(tensor) is SymbolicTensor:
        return tensor
    if EXECUTORS and type(tensor) in EXECUTORS:
        numeric = tensor.dtype.is_numpy_compatible
        return (tensor.dtype.numpy, tensor.dims) if numeric else tensor
    array = tensor._array
    dtype = array.dtype
    if dtype is dtypes.RESOURCE_MARKER or dtype is dtypes.VARIANT_MARKER:
        return tensor
    return dtype, array.shape


def spec_from(kept: Any) -> Spec:
    """The Spec of the tensor that `light` was called with; it refers to the tensor if the shape is open."""
    if type(kept) is tuple:
        return Spec(BY_NUMPY[kept[0]], kept[1])
    if type(kept) is not SymbolicTensor:
        spec = spec_of(kept)
        return Spec(spec.dtype, spec.shape, spec.value, tensor=kept)
    spec = kept.spec
    if shapes.known(spec.shape) and spec.dtype.is_numpy_compatible:
        return spec
    return Spec(spec.dtype, spec.shape, spec.value, spec._partial, kept)


def filled(dtype: DType, shape: Dims, value: int) -> Tensor:
    """A tensor of the current level with a known shape, filled with one number."""
    here = door.level()
    if here.eager or (shapes.count(shape) or 0) <= MAX_CONSTANT_ELEMENTS:
        return here.constant(np.full(shape, value, dtype.numpy))  # type: ignore[arg-type]  # a known shape
    return raw.Fill(np.asarray(shape, np.int32), np.asarray(value, dtype.numpy))


def one_for_each(tensor: Any) -> Any:
    """Ones in the shape of a tensor, with its mesh layout if it has one."""
    if executor_of((tensor,)) is not None:
        return raw.OnesLike(tensor)
    return filled_like(spec_from(light(tensor)), 1)


def filled_like(spec: Spec, value: int) -> Any:
    """A tensor of the spec's shape filled with one number; None for dtypes without numbers."""
    if spec.dtype is dtypes.variant and value == 0:
        return raw.ZerosLike(spec.tensor)
    if not spec.dtype.is_numpy_compatible:
        return None
    if shapes.known(spec.shape):
        return filled(spec.dtype, spec.shape, value)
    of_variable = spec.tensor.dtype is dtypes.resource
    shape = (raw.VariableShape if of_variable else raw.Shape)(spec.tensor)
    return raw.Fill(shape, np.asarray(value, spec.dtype.numpy))


class Plan:
    """Keeps the values that one op's gradient rule names, and calls the rule with them.

    `keep(inputs, outputs, attrs)` is called when the op runs; `call(kept, attrs, grads)`
    when its gradient is wanted, with one gradient (or None) for each flat output. If the op declares
    which inputs' data each gradient needs (`Op.gradient_needs`), `keeper(wanted)` keeps only the dtype
    and shape of the others.
    """

    __slots__ = ("_call", "_keepers", "_kept", "_pairs", "keep", "op", "partial", "rule")

    def __init__(self, op: Op) -> None:
        self.op = op
        self.rule: Rule = op.rules["gradient"]
        self._kept: list[str] = []
        self._keepers: dict[tuple[bool, ...], Any] = {}
        self.partial = bool(op.gradient_needs)
        # The number of inputs if the rule's result is flat, else 0.
        inputs = len(op.sig.inputs)
        self._pairs = 0 if op.has_lists or inputs == 1 else inputs
        sources = [self._source(name) for name in self.rule.takes]
        self._call = GeneratedCode(
            f"gradient {op.name}",
            f"def call(kept, attrs, grads): return rule.fn({', '.join(sources)})",
            {
                "rule": self.rule,
                "op": op,
                "spec_from": spec_from,
                "or_zeros": or_zeros,
                "zeros_of": _zeros_of,
                "whole": _whole,
            },
        ).function("call")
        self.keep: Callable[..., tuple[Any, ...]] = self._keeper(self._kept)

    def call(
        self, kept: Sequence[Any], attrs: dict[str, Any], grads: Sequence[Any]
    ) -> Sequence[Any]:
        """The gradients of the flat inputs."""
        result = self._call(kept, attrs, grads)
        if self._pairs and len(result) == self._pairs:
            return result
        return flat_gradients(self.op, result, attrs)

    def keeper(self, wanted: tuple[bool, ...]) -> Callable[..., tuple[Any, ...]]:
        """`keep` for the case that only the gradients of some inputs will be wanted."""
        keeper = self._keepers.get(wanted)
        if keeper is None:
            names = self.op.input_names
            needs = self.op.gradient_needs
            needed = {n for i, w in zip(names, wanted, strict=True) if w for n in needs[i]}
            idle = {f"inputs[{i}]" for i, n in enumerate(names) if n not in needed}
            kept = [f"light({k})" if k in idle else k for k in self._kept]
            keeper = self._keepers[wanted] = self._keeper(kept)
        return keeper

    def _keeper(self, expressions: Sequence[str]) -> Any:
        body = "".join([f"{k}, " for k in expressions])
        return GeneratedCode(
            f"kept by {self.op.name}",
            f"def keep(inputs, outputs, attrs): return ({body})",
            {"light": light, "op": self.op, "flat": _slice_of, "type_of": _type_of},
        ).function("keep")

    # -- the sources of the rule's arguments -----------------------------------------

    def _keeping(self, expression: str) -> str:
        """The source text that refers to an expression's value among the kept values."""
        if expression not in self._kept:
            self._kept.append(expression)
        return f"kept[{self._kept.index(expression)}]"

    def _source(self, name: str) -> str:
        op = self.op
        if name in op.attr_names or name in op.implied:
            return f"attrs[{name!r}]"
        for kind, args in (("inputs", op.sig.inputs), ("outputs", op.sig.outputs)):
            names = [a.name for a in args]
            if name in names:
                return self._value(name, kind, args, names.index(name))
        names = [f"d{a.name}" for a in op.sig.outputs]
        if name in names:
            return self._gradient(names.index(name))
        return self._keeping(f"type_of(op, inputs, attrs, {name!r})")

    def _value(self, name: str, kind: str, args: tuple[Arg, ...], index: int) -> str:
        is_list = args[index].is_list
        if any(a.is_list for a in args):
            picked = f"flat(op.sig.{kind}, {kind}, attrs, {index})"
        else:
            picked = f"{kind}[{index}]"
        if name not in self.rule.specs:
            found = self._keeping(picked)
            return f"whole({found})" if self.partial else found
        if is_list:
            found = self._keeping(f"[light(t) for t in {picked}]")
            return f"[spec_from(k) for k in {found}]"
        return f"spec_from({self._keeping(f'light({picked})')})"

    def _gradient(self, index: int) -> str:
        args = self.op.sig.outputs
        if len(args) == 1 and not args[0].is_list:
            return "grads[0]"
        kept = self._keeping("[light(t) for t in outputs]")
        if not any(a.is_list for a in args):
            return f"or_zeros(grads[{index}], {kept}[{index}])"
        return f"zeros_of(op.sig.outputs, grads, {kept}, attrs, {index})"


def _whole(kept: Any) -> Any:
    """A kept tensor, or the Spec of a tensor whose data no wanted gradient needs."""
    return spec_from(kept) if type(kept) is tuple else kept


def _zeros_of(
    args: tuple[Arg, ...],
    grads: Sequence[Any],
    kept: Sequence[Any],
    attrs: dict[str, Any],
    index: int,
) -> Any:
    """The gradient, or list of gradients, of one output among flat ones."""
    own = _slice_of(args, grads, attrs, index)
    like = _slice_of(args, kept, attrs, index)
    if not args[index].is_list:
        return or_zeros(own, like)
    return [or_zeros(g, k) for g, k in zip(own, like, strict=True)]


def or_zeros(gradient: Any, kept: Any) -> Any:
    """An output gradient that a rule names: zeros if there is none."""
    return filled_like(spec_from(kept), 0) if gradient is None else gradient


def _slice_of(
    args: tuple[Arg, ...], values: Sequence[Any], attrs: dict[str, Any], index: int
) -> Any:
    """The value, or list of values, of one input or output among flat ones."""
    at = 0
    for arg in args[:index]:
        at += _length(arg, attrs)
    if not args[index].is_list:
        return values[at]
    return list(values[at : at + _length(args[index], attrs)])


def _length(arg: Arg, attrs: dict[str, Any]) -> int:
    if arg.number:
        return attrs[arg.number]
    return len(attrs[arg.types]) if arg.types else 1


def _type_of(op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str) -> Any:
    return op.types_of(inputs, attrs).get(name)


def flat_gradients(op: Op, result: Any, attrs: dict[str, Any]) -> Sequence[Any]:
    """The results of a gradient rule as one value for each flat input."""
    args = op.sig.inputs
    if len(args) == 1:
        if type(result) is tuple and len(result) == 1 and not args[0].is_list:
            return result
        if not args[0].is_list:
            return (result,)
        if result is None:
            return (None,) * _length(args[0], attrs)
        if len(result) == 1 and isinstance(result[0], list):
            return result[0]
        return result
    if len(result) != len(args):
        raise TypeError(
            f"the gradient rule of {op.name} returned {len(result)} values for the inputs {op.input_names}"
        )
    if not op.has_lists:
        return result
    flat: list[Any] = []
    for arg, item in zip(args, result, strict=True):
        if not arg.is_list:
            flat.append(item)
        elif item is None:
            flat.extend([None] * _length(arg, attrs))
        else:
            flat.extend(item)
    return flat


_plans: dict[Op, Plan] = {}


def plan_of(op: Op) -> Plan | None:
    """The op's plan, built on first use; None if the op has no gradient rule."""
    plan = _plans.get(op)
    if plan is None and "gradient" in op.rules:
        plan = _plans[op] = Plan(op)
    return plan
