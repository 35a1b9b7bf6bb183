"""Operators that eager tensors compute with a kernel."""

from __future__ import annotations

from intaglio.opdef import operators
from intaglio.runtime.eager import EagerTensor


def test_every_registered_one_is_installed() -> None:
    """A module that registers one is imported before they are given to eager tensors."""
    assert "__matmul__" in operators.FAST
    assert operators.FAST.keys() <= EagerTensor.__dict__.keys()
