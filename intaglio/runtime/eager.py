"""Eager tensors and the level that computes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.errors import OpError, ShapeError
from intaglio.ir.leaks import leaked
from intaglio.op import convert, door, operators
from intaglio.op.door import STATE, Level
from intaglio.op.op import Op
from intaglio.op.spec import Spec
from intaglio.op.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.runtime.value import Valued


class EagerTensor(Valued):
    """A tensor with a value: a NumPy array, or the object behind a resource or variant."""

    __slots__ = ("__weakref__", "_array", "_key")

    _array: Any
    _key: int

    def __reduce__(self) -> Any:
        return from_array, (self._array,)


def from_array(array: Any) -> EagerTensor:
    """An eager tensor around the array, which must not be written to afterwards."""
    tensor = EagerTensor()
    tensor._array = array
    return tensor


def spec_of(tensor: EagerTensor) -> Spec:
    """The tensor's spec, value included; of a resource, the spec of what it contains."""
    array = tensor._array
    return Spec(
        tensor.dtype,
        tensor.dims,
        array
        if isinstance(array, (np.ndarray, np.generic))
        else getattr(array, "spec", None),
    )


class EagerLevel(Level):
    """Computes at once with the ops' NumPy kernels."""

    eager = True

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        try:
            arrays = [t._array for t in inputs]  # type: ignore[attr-defined]
        except AttributeError:
            raise _symbolic_outside(op, inputs) from None
        try:
            if op.plain and op.kernel_fn is not None:
                result = op.kernel_fn(*arrays)
            elif op.kernel_fn is not None:
                result = interpreter.call_kernel(op, arrays, attrs)
            else:
                return _decomposed(op, inputs, attrs)
        except Exception as e:
            raise explain(op, inputs, attrs, name, e) from None
        return wrap_result(op, result)

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        return from_array(array)


def wrap_result(op: Op, result: Any) -> list[Tensor]:
    """A kernel's result as flat eager tensors."""
    if op.result is None and not op.has_list_outputs:
        if not op.output_names:
            return []
        tensor = EagerTensor()
        tensor._array = result
        return [tensor]
    return [from_array(a) for a in interpreter.flat_result(op, result)]


def _decomposed(
    op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]
) -> list[Tensor]:
    rule = op.rules.get("decompose")
    if rule is None:
        raise errors.UnimplementedError(None, None, f"op {op.name} has no kernel")
    with door.unwatched():
        result = rule(**op.known(inputs, attrs))
    if isinstance(result, Tensor):
        return [result]
    flat: list[Tensor] = []
    for item in result:
        flat.extend(item) if isinstance(item, list) else flat.append(item)
    return flat


def _symbolic_outside(op: Op, inputs: Sequence[Tensor]) -> Exception:
    tensor = next(t for t in inputs if not isinstance(t, EagerTensor))
    return leaked(tensor)


def explain(
    op: Op,
    inputs: Sequence[Tensor],
    attrs: dict[str, Any],
    name: str | None,
    error: Exception,
) -> Exception:
    """The TensorFlow error for a kernel's failure: inference often knows a better text."""
    where = f" [Op:{op.name}] name: {name or ''}".rstrip() + " "
    if isinstance(error, OpError):
        if "[Op:" not in error.message:
            error._message = (
                error.message + where.rstrip(" ") + (" " if not name else "")
            )
        return error
    if isinstance(error, (ShapeError, errors.InaccessibleTensorError)):
        return errors.InvalidArgumentError(None, None, str(error) + where)
    if isinstance(error, NotImplementedError):
        return error
    try:
        op.output_specs([spec_of(t) for t in inputs], attrs)  # type: ignore[arg-type]
    except (ValueError, TypeError) as better:
        return errors.InvalidArgumentError(None, None, str(better) + where)
    except Exception:  # inference failed in a way of its own: keep the kernel's error
        pass
    if isinstance(
        error,
        (ValueError, IndexError, TypeError, ZeroDivisionError, np.exceptions.AxisError),
    ):
        shown = ", ".join(f"{t.dtype.name}{t.dims}" for t in inputs)
        return errors.InvalidArgumentError(
            None, None, f"{error} (inputs: {shown}){where}"
        )
    return error


# -- the fast path of operators ------------------------------------------------------


def _fast_binary(op: Op, slow: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`a + b` of two eager tensors with nothing unusual about: one look-up and the ufunc."""
    kernel = op.kernel_fn
    allowed = {
        d.numpy: kernel
        for d in op.slots[0][2] or ()
        if d.is_numpy_compatible and d.numpy != object
    }
    state = STATE

    def operate(self: EagerTensor, other: Any) -> Any:
        if state.unusual or type(other) is not EagerTensor:
            return slow(self, other)
        x = self._array
        y = other._array
        dtype = x.dtype
        if y.dtype is not dtype:
            return slow(self, other)
        compute = allowed.get(dtype)
        if compute is None:
            return slow(self, other)
        tensor = EagerTensor()
        try:
            tensor._array = compute(x, y)
        except ValueError:
            return slow(self, other)
        return tensor

    return operate


def install_fast_operators() -> None:
    """Gives EagerTensor its fast operators; called once the catalogue is there."""
    for special, (op_name, slow) in operators.FAST.items():
        setattr(
            EagerTensor, special, _fast_binary(operators.raw.CATALOGUE[op_name], slow)
        )
    EagerTensor.__hash__ = Tensor.__hash__  # type: ignore[method-assign]


def _constant(array: Any, name: str | None = None) -> Tensor:
    return door.level().constant(array, name)


door.install_bottom(EagerLevel)
convert.install_constant(_constant)
interpreter.SERVICES["wrap"] = from_array
