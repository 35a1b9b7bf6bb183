"""The abstract `Tensor`: the interface that eager and symbolic tensors share, operators included.

Follows https://www.tensorflow.org/api_docs/python/tf/Tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from intaglio.base import shapes
from intaglio.base.composite import ActsAsTensor
from intaglio.base.dtypes import DType
from intaglio.base.errors import OperatorNotAllowedInGraphError
from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.shapes import Dims, TensorShape
from intaglio.opdef import raw


class Reference:
    """A hashable stand-in for a tensor: equal only to a reference to the same object."""

    __slots__ = ("_target",)

    def __init__(self, target: Any) -> None:
        self._target = target

    def deref(self) -> Any:
        """The tensor itself."""
        return self._target

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self._target is other._target

    def __lt__(self, other: Any) -> bool:
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return id(self._target) < id(other._target)

    def __gt__(self, other: Any) -> bool:
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return id(self._target) > id(other._target)

    def __hash__(self) -> int:
        return id(self._target)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._target!r}>"


class Tensor(ShownInNotebooks, ActsAsTensor):
    """A multidimensional array of one dtype. Made by ops, never by calling the class."""

    __slots__ = ()
    __array_priority__: ClassVar[int] = 100
    # The special methods that TensorFlow lists as operators of tensors.
    OVERLOADABLE_OPERATORS: ClassVar[set[str]] = (
        {
            f"__{side}{name}__"
            for side in ("", "r")
            for name in [
                "add",
                "and",
                "div",
                "floordiv",
                "matmul",
                "mod",
                "mul",
                "or",
                "pow",
                "sub",
                "truediv",
                "xor",
            ]
        }
        | {f"__{name}__" for name in ("abs", "eq", "ge", "getitem", "gt", "invert", "le", "lt")}
        | {"__ne__", "__neg__"}
    )

    if TYPE_CHECKING:
        # Attributes that type checkers cannot see: operators, which are installed by the layer with the
        # conversion rules, and attributes of some tensors only: the value of eager ones, the node of
        # symbolic ones. On other tensors they raise AttributeError.
        _array: Any
        _key: int
        node: Any
        spec: Any

        @property
        def name(self) -> str: ...
        @property
        def device(self) -> str: ...
        @property
        def op(self) -> Any: ...
        @property
        def graph(self) -> Any: ...
        def consumers(self) -> list[Any]: ...
        def set_shape(self, shape: Any) -> None: ...
        def numpy(self) -> Any: ...
        def __getitem__(self, spec: Any) -> Tensor: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __complex__(self) -> complex: ...
        def __index__(self) -> int: ...
        def _of_one(self) -> Tensor: ...
        def _of_two(self, other: Any) -> Tensor: ...

        __neg__ = __abs__ = __invert__ = _of_one
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _of_two
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _of_two
        __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _of_two
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _of_two
        __lt__ = __le__ = __gt__ = __ge__ = _of_two

        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]  # elementwise
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]  # elementwise

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        raise NotImplementedError

    @property
    def dims(self) -> Dims:
        """The shape as a tuple, None for an unknown rank."""
        raise NotImplementedError

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return shapes.of_dims(self.dims)

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return shapes.of_dims(self.dims)

    @property
    def ndim(self) -> int:
        """The number of dimensions; -1 if the rank is unknown."""
        dims = self.dims
        return -1 if dims is None else len(dims)

    def ref(self) -> Reference:
        """A hashable reference to this tensor, for sets and dict keys."""
        return Reference(self)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    # Python's protocols of values, which tensors with a value override.

    def __bool__(self) -> bool:
        raise not_allowed("Using a symbolic `tf.Tensor` as a Python `bool`")

    def __iter__(self) -> Iterator[Any]:
        raise not_allowed("Iterating over a symbolic `tf.Tensor`")

    def __len__(self) -> int:
        name = getattr(self, "name", "")
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({name}). Please call "
            "`x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        name = getattr(self, "name", "")
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({name}) to a numpy array. This error "
            "may indicate that you're trying to pass a Tensor to a NumPy call, which is "
            "not supported."
        )

    def _shape_text(self) -> str:
        return shapes.text(self.dims)

    def _shape_tuple(self) -> Dims:
        return self.dims

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.dims is None else list(self.dims)


def not_allowed(what: str) -> Exception:
    """TensorFlow's error for a Python operation that needs a tensor's value, where there is none."""
    return OperatorNotAllowedInGraphError(
        f"{what} is not allowed. You can attempt the following resolutions to the "
        "problem: If you are running in Graph mode, use Eager execution mode or decorate "
        "this function with @tf.function. If you are using AutoGraph, you can try "
        "decorating this function with @tf.function. If that does not work, then you may "
        "be using an unsupported feature or your source code may not be visible to "
        "AutoGraph. See https://github.com/tensorflow/tensorflow/blob/master/tensorflow/"
        "python/autograph/g3doc/reference/limitations.md#access-to-source-code for more "
        "information."
    )


def _numpy_only(name: str) -> property:
    def refuse(self: Any) -> Any:
        raise AttributeError(
            f"{type(self).__name__} object has no attribute '{name}'. \n        If you are "
            "looking for numpy-related methods, please run the following:\n        "
            "tf.experimental.numpy.experimental_enable_numpy_behavior()\n      "
        )

    return property(refuse, doc=f"What NumPy calls {name}; tensors have no such attribute.")


# NumPy's methods that users expect on tensors.
for _name in ("T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"):
    setattr(Tensor, _name, _numpy_only(_name))


def install_operator(name: str, function: Any) -> None:
    """Adds a special method to Tensor; called by the layer with the conversion rules."""
    setattr(Tensor, name, function)


__all__ = ["Reference", "Tensor", "install_operator", "not_allowed", "raw"]
