"""The NumPy kernels of ops recorded on jax: an op needs no rule where its kernel can be recorded.

A kernel is Python code of the module `numpy`, in whose place it is given jax
(`runtime/retargeted_kernels.py`), so that its steps become those of an XLA program. What depends on the
elements of arrays, such as how many there are of a result, raises `Untraceable`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jax.errors import TracerArrayConversionError

from intaglio.base.dtypes import from_numpy
from intaglio.opdef.op import Op
from intaglio.opdef.scalar import NumpyScalars
from intaglio.ops.random import stateless
from intaglio.runtime.interpreter import flat_result
from intaglio.runtime.retargeted_kernels import Retargeting
from intaglio.xla import random_bits
from intaglio.xla.arrays import unwrapped, wrapped
from intaglio.xla.numpy_module import MODULE
from intaglio.xla.paths import selected, without_paths
from intaglio.xla.values import Untraceable, is_traced

# What recorded code raises where an `Array`, or jax, is no array of NumPy.
REFUSED = (TypeError, ValueError, ArithmeticError, NotImplementedError, AttributeError, LookupError)


def refusal(error: Exception) -> str:
    """The first line of an error; what an array of the recording lacks is nothing to a reader."""
    if isinstance(error, AttributeError):
        return "it has steps that are not recorded"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _check(function: Any) -> Any:
    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return without_paths(lambda: function(*args, **kwargs))
        except Untraceable:  # XLA programs do not check their data
            return None

    return checked


# The kernels with jax in the place of NumPy.
_RETARGETING = Retargeting(
    MODULE,
    {
        stateless.keyed: random_bits.keyed,
        stateless.seeded: random_bits.seeded,
        **random_bits.COUNTERPARTS,
    },
    check=_check,
)
retargeted = _RETARGETING.function


def services(op: Op) -> set[str]:
    """The services of the runtime that an op's kernel asks for."""
    return {key for kind, key in op.kernel_order if kind == "service"}


def record(
    op: Op, values: Sequence[Any], attrs: dict[str, Any], operands: Mapping[str, Any]
) -> list[Any]:
    """The outputs of an op for known and traced inputs, by its kernel.

    `given` are services of the runtime by name. Raises Untraceable if the kernel cannot be
    recorded.
    """
    missing = services(op) - {"raises", *operands}
    if op.kernel_fn is None or missing:
        raise Untraceable("its kernel needs the runtime")
    wide = op.computes_wide and values and values[0].dtype.itemsize == 2
    inputs = [wrapped(v) for v in values]
    narrow = values[0].dtype if wide else None
    if wide:
        inputs = [x.astype(np.float32) if x.dtype == narrow else x for x in inputs]
    kernel = _kernel(op)

    def run() -> list[Any]:
        copies = [wrapped(unwrapped(x)) for x in inputs]
        result = kernel(*_arguments(op, copies, values, attrs, operands))
        return [unwrapped(v) for v in flat_result(op, result)]

    try:
        # What has a state would be changed by each path.
        found = run() if operands or op.stateful else selected(run)
    except Untraceable:
        raise
    except TracerArrayConversionError as e:
        raise Untraceable("NumPy code reads the elements") from e
    except REFUSED as e:
        raise Untraceable(f"its kernel: {refusal(e)}") from e
    if wide:
        found = [v.astype(narrow) if v.dtype == np.float32 else v for v in found]
    return [v if is_traced(v) else np.asarray(v) for v in found]


def _kernel(op: Op) -> Callable[..., Any]:
    kernel = _RETARGETING.op(op).kernel_fn
    if isinstance(kernel, functools.partial) and kernel.args and kernel.args[0] is NumpyScalars:
        raise Untraceable("it is a scalar rule")
    return kernel


def _arguments(
    op: Op,
    inputs: Sequence[Any],
    values: Sequence[Any],
    attrs: dict[str, Any],
    operands: Mapping[str, Any],
) -> list[Any]:
    grouped = op.sig.group(inputs, attrs) if op.has_lists else inputs
    types: dict[str, Any] | None = None
    args: list[Any] = []
    for kind, key in op.kernel_order:
        if kind == "input":
            args.append(grouped[key])
        elif kind == "attr":
            args.append(attrs[key])
        elif kind == "service":
            args.append(operands.get(key))
        else:
            types = types or op.types_of([_Typed(v) for v in values], attrs)
            args.append(types[key])
    return args


class _Typed:
    """An array with its DType."""

    def __init__(self, array: Any) -> None:
        self.dtype = from_numpy(np.dtype(array.dtype))
