"""Products of linear operators: of the same structure where there is one, else a composition."""

from __future__ import annotations

from typing import Any

from intaglio.linear_operators.blocks import LinearOperatorBlockDiag
from intaglio.linear_operators.circulant import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
)
from intaglio.linear_operators.composed import LinearOperatorComposition
from intaglio.linear_operators.operator import LinearOperator, column
from intaglio.linear_operators.structured import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from intaglio.opdef import convert, raw

DIAGONAL = (LinearOperatorDiag, LinearOperatorScaledIdentity)
CIRCULANT = (LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D)


def product(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """The product of two operators. Raises ValueError if the dimensions do not fit."""
    inner = left.domain_dimension, right.range_dimension
    if None not in inner and inner[0] != inner[1]:
        raise ValueError(
            "Operators are incompatible. Expected `x` to have dimension "
            f"{inner[0]} but got {inner[1]}."
        )
    # A scaled identity is an identity to Python, not to these rules.
    if type(left) is LinearOperatorIdentity:
        return right
    if type(right) is LinearOperatorIdentity:
        return left
    if left.is_square and right.is_square:
        for one in (left, right):
            if isinstance(one, LinearOperatorZeros):
                return one
    return _of_one_structure(left, right) or _composition(left, right)


def _composition(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    squared = left is right and bool(left.is_self_adjoint)
    return LinearOperatorComposition(
        [left, right],
        is_self_adjoint=squared or None,
        is_positive_definite=(squared and bool(left.is_non_singular)) or None,
    )


def _of_one_structure(left: LinearOperator, right: LinearOperator) -> LinearOperator | None:
    """The product as one operator of a structure, None if it has none."""
    both = (left, right)
    if all(isinstance(o, LinearOperatorScaledIdentity) for o in both):
        scale = raw.Mul(_scale(left), _scale(right))
        rows = left.parameters["num_rows"]
        return LinearOperatorScaledIdentity(rows, scale, **_commuting(*both))
    if all(isinstance(o, DIAGONAL) for o in both):
        return LinearOperatorDiag(raw.Mul(_diagonal(left), _diagonal(right)), **_commuting(*both))
    if isinstance(left, DIAGONAL) and isinstance(right, LinearOperatorLowerTriangular):
        return _lower(raw.Mul(column(_diagonal(left)), right.to_dense()), both)
    if isinstance(left, LinearOperatorLowerTriangular) and isinstance(right, DIAGONAL):
        row = raw.ExpandDims(_diagonal(right), -2)
        return _lower(raw.Mul(left.to_dense(), row), both)
    if isinstance(left, CIRCULANT) and type(left) is type(right):
        same: Any = right  # of the class of `left`, which checkers do not see
        spectrum = raw.Mul(left._working(), same._working())
        return type(left)(spectrum, left.dtype, **_commuting(*both))
    if isinstance(left, LinearOperatorBlockDiag) and isinstance(right, LinearOperatorBlockDiag):
        pairs = [*zip(left.operators, right.operators, strict=False)]
        fits = len(left.operators) == len(right.operators) and all(
            a.domain_dimension == b.range_dimension for a, b in pairs
        )
        return LinearOperatorBlockDiag([a @ b for a, b in pairs]) if fits else None
    return None


def _scale(operator: Any) -> Any:
    return convert.to_tensor(operator.multiplier)


def _diagonal(operator: Any) -> Any:
    """The diagonal, of one element for all where it is a multiple of the identity."""
    if isinstance(operator, LinearOperatorScaledIdentity):
        return column(_scale(operator))
    return convert.to_tensor(operator.diag)


def _lower(dense: Any, both: tuple[LinearOperator, LinearOperator]) -> LinearOperator:
    regular = all(o.is_non_singular for o in both) or None
    return LinearOperatorLowerTriangular(dense, is_non_singular=regular)


def _commuting(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    """The hints of the product of two operators that commute."""
    adjoint = a.is_self_adjoint and b.is_self_adjoint
    return {
        "is_non_singular": (a.is_non_singular and b.is_non_singular) or None,
        "is_self_adjoint": adjoint or None,
        "is_positive_definite": (a.is_positive_definite and b.is_positive_definite) or None,
    }
