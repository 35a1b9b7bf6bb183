"""Sums of linear operators that know their structure."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from intaglio.linear_operators.structured import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)


def add_operators(
    operators: Sequence[Any], operator_name: str | None = None, addition_tiers: Any = None
) -> list[Any]:
    """A list with the sum: diagonal or triangular if all operators are, else a full matrix.

    A list of one operator is returned as it is. Hints that hold for all hold for the sum
    where addition keeps them. Raises TypeError for an empty list.
    """
    if not operators:
        raise TypeError("`operators` must have at least one operator.")
    if len(operators) == 1:
        return list(operators)
    hints = {
        hint: True
        for hint in ("is_self_adjoint", "is_positive_definite")
        if all(getattr(one, hint) for one in operators)
    }
    diagonal = (LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity)
    options: dict[str, Any] = {**hints, "name": operator_name or "sum"}
    if all(isinstance(one, diagonal) for one in operators):
        total = functools.reduce(operator.add, [one.diag_part() for one in operators])
        return [LinearOperatorDiag(total, **options)]
    dense = functools.reduce(operator.add, [one.to_dense() for one in operators])
    if all(isinstance(one, (*diagonal, LinearOperatorLowerTriangular)) for one in operators):
        return [LinearOperatorLowerTriangular(dense, **options)]
    return [LinearOperatorFullMatrix(dense, **options)]
