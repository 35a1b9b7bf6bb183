"""Optional values, which only some paths through a graph compute: a typed value and a presence bit.

A name that has no value, or is None, before a staged statement and is set by a part of it
is a `Maybe` afterwards. Where there is no value its tensors are zeros that are never seen:
reading the name checks the bit when the graph runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes, nest, shapes
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace import control_flow

RESULT = "the function return value"


class Maybe:
    """A value with a presence bit, `present`; `why` is the error message for a read while it is absent.

    The value that a function returns needs no bit of its own, because the flag that it did
    return is one. `lacking` is the branch without a `return`, for the error if that one
    cannot be told from the other at the end of the function.
    """

    __slots__ = ("_checked", "lacking", "present", "value", "why")

    def __init__(self, value: Any, present: Any, why: str, lacking: str | None = None) -> None:
        self.value = value
        self.present = present
        self.why = why
        self.lacking = lacking
        self._checked: set[int] = set()

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        bit = () if self.present is None else (self.present,)
        return (self.why, self.lacking), (self.value, *bit)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: tuple[Any, ...]) -> Maybe:
        value, *bit = components
        return cls(value, bit[0] if bit else None, *metadata)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return convert.to_tensor(self.read(), dtype)

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.read(), name)

    def read(self) -> Any:
        """The value. The graph fails where it runs and there is none."""
        graph = control_flow.recording()
        if self.present is not None and id(graph) not in self._checked:
            self._checked.add(id(graph))
            require(self.present, self.why)
        return self.value


# Whoever has got one without asking reads it by what is done with it.
def _reading(operation: Callable[..., Any]) -> Callable[..., Any]:
    def read(self: Maybe, *others: Any) -> Any:
        values = [v.read() if type(v) is Maybe else v for v in others]
        return operation(self.read(), *values)

    return read


for _name in (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_",
    "or_", "xor", "lt", "le", "gt", "ge", "eq", "ne", "getitem", "neg", "pos", "abs", "invert",
):  # fmt: skip
    _plain = _name.rstrip("_")
    _operation = getattr(operator, _name)
    setattr(Maybe, f"__{_plain}__", _reading(_operation))
    if _plain in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"):
        setattr(Maybe, f"__r{_plain}__", _reading(lambda v, w, f=_operation: f(w, v)))


def require(present: Any, why: str) -> None:
    """Records the check of a bit: InvalidArgumentError, `why`, where it is not set."""
    raw.Assert(convert.to_tensor(present), [convert.to_tensor(why)])


def value_or(maybe: Maybe, default: Callable[[], Any]) -> Any:
    """The value where there is one, else the default. Both have one structure."""
    if maybe.present is None:
        return maybe.value
    return control_flow.cond(
        convert.to_tensor(maybe.present),
        lambda: maybe.value,
        lambda: nest.map_structure(
            lambda v, like: convert.to_tensor(v, like.dtype) if isinstance(like, Tensor) else v,
            default(),
            maybe.value,
        ),
    )


def known(value: Any) -> Any:
    """The value of a Maybe without a check; any other value itself."""
    return value.value if type(value) is Maybe else value


def placeholder(value: Any) -> Any:
    """A structure like the value's, with zeros of the same types instead of tensors."""
    return nest.map_structure(
        lambda v: zero(v) if isinstance(v, Tensor) else v, value, expand_composites=True
    )


def zero(tensor: Any) -> Tensor:
    """A tensor of the same type whose value is never used."""
    dims, dtype = tensor.dims, tensor.dtype
    if shapes.known(dims) and dtype.is_numpy_compatible and dtype is not dtypes.string:
        return convert.to_tensor(np.zeros(dims, dtype.numpy), dtype)
    return raw.FakeParam(dtype=dtype, shape=dims)
