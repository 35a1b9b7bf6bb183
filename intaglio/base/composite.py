"""Composite values: objects that represent several tensors.

Ragged and sparse tensors, extension types and optionals are composite. `nest` opens them
with `expand_composites=True`, through the value's type spec.
"""

from __future__ import annotations

from typing import Any


class ActsAsTensor:
    """The base class of all objects that act as tensors: tensors, variables, and libraries' classes.

    It has no methods. Libraries derive classes with `__tf_tensor__` from it.
    """

    __slots__ = ()


# Keras recognises tensors by the name and module of a class, not by isinstance.
ActsAsTensor.__name__ = ActsAsTensor.__qualname__ = "Tensor"
ActsAsTensor.__module__ = "tensorflow.python.types.core"


class CompositeTensor:
    """A value of several tensors, with a type spec that flattens and rebuilds it.

    The spec has `_to_components(value)`, `_from_components(components)` and
    `_component_specs`. A value is composite because its class derives from this one.
    """

    __slots__ = ()

    @property
    def _type_spec(self) -> Any:
        """The spec of this value."""
        raise NotImplementedError(f"{type(self).__name__}._type_spec")

    def _convert_variables_to_tensors(self) -> Any:
        """The value with its variables replaced by tensors: it has none. Keras 2 calls it; may be overridden."""
        return self


class TensorInParts(CompositeTensor):
    """A composite value that represents one tensor: ragged, sparse or IndexedSlices.

    `tf.is_tensor` is true for these, and false for datasets and extension types.
    """

    __slots__ = ()
