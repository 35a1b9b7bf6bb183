"""Gradients by ragged tensors: those of their flat values, in the same rows."""

from __future__ import annotations

from typing import Any


class ByFlatValues:
    """The gradient protocol of ragged tensors: a tape sees their values."""

    def get_gradient_components(self, value: Any) -> Any:
        """The tensor that has a gradient."""
        return value.flat_values

    def replace_gradient_components(self, value: Any, component_gradients: Any) -> Any:
        """The gradient in the rows of the value."""
        return value.with_flat_values(component_gradients)
