"""Linear equations solved by conjugate gradients.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/experimental/conjugate_gradient.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from intaglio.linear_operators.operator import conjugate
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.trace.choices import while_loop

__all__ = ["conjugate_gradient"]

LAST = np.array([-1], np.int32)


class CGState(NamedTuple):
    """The state of the iteration: step, solution, residual, direction, squared residual."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return raw.Sum(raw.Mul(conjugate(x), y), LAST)


def _scaled(factor: Tensor, x: Tensor) -> Tensor:
    return raw.Mul(raw.ExpandDims(factor, np.int32(-1)), x)


@dispatchable
def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-05,
    max_iter: int = 20,
    name: str | None = "conjugate_gradient",
) -> CGState:
    """x with A @ x = rhs for a self-adjoint, positive definite operator, by conjugate gradients.

    `rhs` is [..., N], `x` the start (zeros if none is given), `preconditioner` an operator
    near the inverse of A. Stops after `max_iter` steps, or when what is left of `rhs` is at most
    `tol` times its length. Returns a tuple with the fields i, x, r, p and gamma.

    >>> matrix = tf.constant([[4., 1.], [1., 3.]])
    >>> operator = tf.linalg.LinearOperatorFullMatrix(
    ...     matrix, is_self_adjoint=True, is_positive_definite=True)
    >>> state = tf.linalg.experimental.conjugate_gradient(operator, tf.constant([1., 2.]))
    >>> state.x.numpy().round(4)
    array([0.0909, 0.6364], dtype=float32)

    https://www.tensorflow.org/api_docs/python/tf/linalg/experimental/conjugate_gradient
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    with door.level().scoped(name or "conjugate_gradient"):
        rhs = convert.to_tensor(rhs, operator.dtype)
        length = raw.Sqrt(_real(_dot(rhs, rhs)))
        limit = raw.Mul(length, np.asarray(tol, length.dtype.numpy))
        if x is None:
            x, r = raw.ZerosLike(rhs), rhs
        else:
            x = convert.to_tensor(x, operator.dtype)
            r = raw.Sub(rhs, operator.matvec(x))
        p = r if preconditioner is None else preconditioner.matvec(r)
        start = CGState(convert.to_tensor(np.int32(0)), x, r, p, _dot(r, p))
        step = functools.partial(_step, operator, preconditioner)

        def goes_on(*state: Any) -> Tensor:
            rest = CGState(*state).r
            far = raw.Greater(raw.Sqrt(_real(_dot(rest, rest))), limit)
            axes = raw.Range(np.int32(0), raw.Rank(far), np.int32(1))
            more = raw.Less(CGState(*state).i, np.int32(max_iter))
            return raw.LogicalAnd(more, raw.Any(far, axes))

        return CGState(*while_loop(goes_on, step, tuple(start)))


def _step(operator: Any, preconditioner: Any, *state: Any) -> tuple[Tensor, ...]:
    """One step along the direction, and the next direction."""
    i, x, r, p, gamma = state
    z = operator.matvec(p)
    alpha = raw.DivNoNan(gamma, _dot(p, z))
    x = raw.AddV2(x, _scaled(alpha, p))
    r = raw.Sub(r, _scaled(alpha, z))
    q = r if preconditioner is None else preconditioner.matvec(r)
    following = _dot(r, q)
    beta = raw.DivNoNan(following, gamma)
    p = raw.AddV2(q, _scaled(beta, p))
    return raw.AddV2(i, np.int32(1)), x, r, p, following


def _real(x: Tensor) -> Tensor:
    return raw.Real(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else x
