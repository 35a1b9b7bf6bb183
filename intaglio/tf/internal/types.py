"""`tf.__internal__.types`: the class of everything that acts as a tensor."""

from __future__ import annotations

from intaglio.base.composite import ActsAsTensor as Tensor

__all__ = ["Tensor"]
