"""Gradients registered by the program: by name, for an op type or a single call.

Follows https://www.tensorflow.org/api_docs/python/tf/RegisterGradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autodiff import registered
from intaglio.autodiff.plan import light, or_zeros
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor

ATTRIBUTE = "_gradient_op_type"
GradientFunction = Callable[..., Any]
REGISTERED: dict[str, GradientFunction | None] = {}


class GradientName(str):
    """The name of the gradient function of a single call, with a reference to the function."""

    __slots__ = ("function",)

    function: GradientFunction


def named(name: str, function: GradientFunction) -> GradientName:
    """A name that carries its gradient function: `function(op, *output_gradients)`."""
    gradient_name = GradientName(name)
    gradient_name.function = function
    return gradient_name


class OpView:
    """An eagerly executed op with the interface of `tf.Operation`, for registered gradient functions."""

    __slots__ = ("attrs", "inputs", "op", "outputs")

    def __init__(
        self, op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.inputs = list(inputs)
        self.outputs = list(outputs)

    @property
    def type(self) -> str:
        """The op type."""
        return self.op.name

    @property
    def name(self) -> str:
        """The op type: eager ops have no names."""
        return self.op.name

    def get_attr(self, name: str) -> Any:
        """An attribute, or the dtype behind a type variable. Raises ValueError if there is none."""
        known = {**self.op.types_of(self.inputs, self.attrs), **self.attrs}
        if name not in known:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return known[name]


def register(name: str, function: GradientFunction | None) -> None:
    """Registers a gradient function under a name; None declares that there is no gradient.

    Raises KeyError if the name is taken, by a gradient rule of the catalogue too.
    """
    op = raw.find(name)
    if name in REGISTERED or (op is not None and "gradient" in op.rules):
        raise KeyError(f"Registering two gradient with name '{name}'!")
    REGISTERED[name] = function


def function_for(op: Op, attrs: dict[str, Any]) -> GradientFunction | None:
    """The program's gradient function for a call of an op.

    Raises LookupError if the call names a function that is not registered.
    """
    name = attrs.get(ATTRIBUTE)
    if name is None:
        return REGISTERED.get(op.name)
    if isinstance(name, GradientName):
        return name.function
    if name not in REGISTERED:
        raise LookupError(f"gradient registry has no entry for: {name}")
    return REGISTERED[name]


def registered_backward(
    op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """The program's gradient function as a function of the flat output gradients."""
    first: Any = outputs[0]
    view = first.node if type(first) is SymbolicTensor else None
    if view is None:
        view = OpView(op, attrs, inputs, outputs)
    like = [light(t) for t in outputs]

    def backward(grads: Sequence[Any]) -> Sequence[Any]:
        function = function_for(op, attrs)
        if function is None:
            return [None] * len(inputs)
        gradients = [or_zeros(g, k) for g, k in zip(grads, like, strict=True)]
        found = function(view, *gradients)
        if not isinstance(found, (list, tuple)):
            found = [found]
        if len(found) != len(inputs):
            raise ValueError(
                f"Num gradients {len(found)} generated for op {view.name} ({op.name}) do not match num inputs {len(inputs)}"
            )
        return found

    return backward


class RegisterGradient:
    """A decorator that registers the gradient function of an op type, or a name for one.

    The function is called as `function(op, *output_gradients)` and returns a gradient for
    each input of `op`. Raises TypeError if the name is no string, KeyError if it is taken.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        register(self._op_type, f)
        return f


def no_gradient(op_type: str) -> None:
    """Declares an op type not differentiable. Raises TypeError, or KeyError if it has a gradient.

    >>> tf.no_gradient("SomeOpOfYourOwn")
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    registered.register(op_type, None)
