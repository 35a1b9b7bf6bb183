"""Composite values: objects that represent several tensors.

Ragged and sparse tensors, extension types and optionals are composite. `nest` opens them
with `expand_composites=True`, through the value's type spec.
"""

from __future__ import annotations

from typing import Any


class ActsAsTensor:
    """The class of everything that acts as a tensor: tensors, variables, what derives from it.

    It does not prescribe how. Libraries derive classes from it that have `__tf_tensor__`.
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
        """The spec of this very value."""
        raise NotImplementedError(f"{type(self).__name__}._type_spec")

    def _convert_variables_to_tensors(self) -> Any:
        """The value with tensors for its variables: it has none. Keras 2 asks; classes may override it."""
        return self


class TensorInParts(CompositeTensor):
    """A composite value that is one tensor: a ragged or sparse one, or slices of one.

    For `tf.is_tensor` these are tensors; datasets and extension types are none.
    """

    __slots__ = ()
