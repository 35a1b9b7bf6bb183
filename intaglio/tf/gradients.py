"""Automatic differentiation: tapes and what belongs to them.

Follows https://www.tensorflow.org/api_docs/python/tf/GradientTape.
"""

from __future__ import annotations

from intaglio.autodiff.gradient_tape import GradientTape, UnconnectedGradients
from intaglio.op.indexed_slices import IndexedSlices

__all__ = ["GradientTape", "IndexedSlices", "UnconnectedGradients"]
