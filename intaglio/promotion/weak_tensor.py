"""`WeakTensor`: a tensor whose dtype the program did not choose, so that it is promoted to others.

Follows https://www.tensorflow.org/guide/tf_numpy_type_promotion. It is a composite value around
a tensor, which graphs, tapes, functions and datasets see instead of it: that it is weak is known
while Python runs, and nowhere else. What is not in the lists of `names.py` takes it as the tensor.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from intaglio.autograph.loops import for_stmt
from intaglio.base.composite import TensorInParts
from intaglio.base.dtypes import DType
from intaglio.base.shapes import TensorShape
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, door
from intaglio.opdef.tensor import Tensor
from intaglio.promotion import lattice
from intaglio.type_specs.batchable_extension_type import BatchableExtensionType


class _Gradient:
    """Gradients by weak tensors: those by their tensors, and weak."""

    def get_gradient_components(self, value: WeakTensor) -> Tensor:
        """What is differentiated by."""
        return value.tensor

    def replace_gradient_components(self, value: WeakTensor, components: Any) -> Any:
        """The gradient by the value, given that by its tensor."""
        return weakly(components)


class WeakTensor(BatchableExtensionType, TensorInParts):
    """A tensor of a weak type: int32, float32, float64 or complex128.

    `tensor` is the tensor itself, as which it behaves otherwise.
    """

    tensor: Tensor
    __array_priority__ = Tensor.__array_priority__
    __composite_gradient__ = _Gradient()

    def __validate__(self) -> None:
        """Raises TypeError for a type that is never weak."""
        if self.tensor.dtype not in lattice.WEAK:
            allowed = ", ".join(sorted(dtype.name for dtype in lattice.WEAK))
            raise TypeError(f"{self.tensor.dtype.name} is no weak type; these are: {allowed}")

    @classmethod
    def from_tensor(cls, tensor: Tensor) -> WeakTensor:
        """The tensor as a weak one."""
        return cls(tensor)

    def to_tensor(self) -> Tensor:
        """The tensor itself."""
        return self.tensor

    @property
    def dtype(self) -> DType:
        """The dtype of the elements, before promotion."""
        return self.tensor.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self.tensor.shape

    def __getattr__(self, name: str) -> Any:
        if "tensor" not in self.__dict__:  # under construction, or being copied
            raise AttributeError(name)
        return getattr(self.tensor, name)

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        return convert.to_tensor(self.tensor, dtype, name)

    def __copy__(self) -> WeakTensor:
        return type(self)(self.tensor)

    def __deepcopy__(self, memo: Any) -> WeakTensor:
        return type(self)(copy.deepcopy(self.tensor, memo))

    def __reduce__(self) -> Any:
        return type(self), (self.tensor,)

    def __autograph_for__(self, *loop: Any) -> None:
        """A `for` loop: over weak elements at once, in a graph over rows of the tensor."""
        for_stmt(list(self) if door.level().eager else self.tensor, *loop)

    # -- as Python sees it -----------------------------------------------------------

    def __repr__(self) -> str:
        return f"{repr(self.tensor)[:-1]}, weak=True>"

    def __str__(self) -> str:
        return f"{str(self.tensor)[:-1]}, weak=True)"

    def __format__(self, format_spec: str) -> str:
        if isinstance(self.tensor, SymbolicTensor):
            return str(self)
        return f"{format(self.tensor, format_spec)} weakly typed"

    def __bool__(self) -> bool:
        return bool(self.tensor)

    def __int__(self) -> int:
        return int(self.tensor)

    def __float__(self) -> float:
        return float(self.tensor)

    def __complex__(self) -> complex:
        return complex(self.tensor)

    def __index__(self) -> int:
        return self.tensor.__index__()

    def __len__(self) -> int:
        return len(self.tensor)

    def __iter__(self) -> Iterator[WeakTensor]:
        return map(type(self), self.tensor)

    def __getitem__(self, spec: Any) -> Tensor:
        return self.tensor[spec]

    def __contains__(self, item: Any) -> bool:
        return item in self.tensor

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tensor.__array__(*args, **kwargs)

    def __hash__(self) -> int:  # type: ignore[override]  # extension types have None here
        return hash(self.tensor)


# Slots of the class above that extension types close after `__init__`.
def weakly(value: Any) -> Any:
    """A result as a weak tensor, if its type may be weak; lists and tuples of such likewise."""
    if isinstance(value, Tensor):
        if value.dtype not in lattice.WEAK:
            return value
        weak: Any = WeakTensor.__new__(WeakTensor)
        weak.__dict__["tensor"] = value  # which is one, and of a type that may be weak
        return weak
    if type(value) in (list, tuple):
        return type(value)([weakly(item) for item in value])
    return value


def strongly(value: Any) -> Any:
    """The tensor of a weak tensor; what is none as it is."""
    return value.tensor if isinstance(value, WeakTensor) else value


# Under a name of its own, for saved structures.
WeakTensorSpec = WeakTensor.Spec
