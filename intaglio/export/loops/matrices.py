"""Factorisations of stacks of matrices, in double precision whatever the matrices are.

Matrices are in the order of C. What LAPACK refuses, such as the inverse of a singular matrix, is noted in
`refused`; eigenvalues and singular values of what has NaN are NaN.
"""

from __future__ import annotations

import math
from typing import Any

# Sweeps of rotations after which a matrix that is not diagonal has no diagonal form: it has NaN.
SWEEPS = 60


def _copied(target: Any, source: Any, count: Any) -> None:
    for i in range(count):
        target[i] = source[i]


def _filled(target: Any, count: Any, value: Any) -> None:
    for i in range(count):
        target[i] = value


def _identity(target: Any, rows: Any, columns: Any) -> None:
    for i in range(rows):
        for j in range(columns):
            target[i * columns + j] = 1.0 if i == j else 0.0


# -- QR ------------------------------------------------------------------------------------------------


def _reflector(a: Any, t: Any, m: Any, n: Any, j: Any) -> None:
    """Makes column j zero below the diagonal, by LAPACK's choice of signs; the vector stays there."""
    largest = 0.0
    for i in range(j + 1, m):
        largest = max(largest, abs(a[i * n + j]))
    t[j] = 0.0
    if largest == 0.0:
        return
    alpha = a[j * n + j]
    largest = max(largest, abs(alpha))
    total = (alpha / largest) * (alpha / largest)
    for i in range(j + 1, m):
        total += (a[i * n + j] / largest) * (a[i * n + j] / largest)
    beta = largest * math.sqrt(total)
    if alpha >= 0.0:
        beta = -beta
    t[j] = (beta - alpha) / beta
    for i in range(j + 1, m):
        a[i * n + j] = a[i * n + j] / (alpha - beta)
    a[j * n + j] = beta


def _reflected(x: Any, width: Any, column: Any, a: Any, t: Any, m: Any, n: Any, j: Any) -> None:
    """Applies reflector j to a column of another matrix of m rows."""
    total = x[j * width + column]
    for i in range(j + 1, m):
        total += a[i * n + j] * x[i * width + column]
    total = total * t[j]
    x[j * width + column] -= total
    for i in range(j + 1, m):
        x[i * width + column] -= total * a[i * n + j]


def qr(
    qs: Any, rs: Any, a: Any, t: Any, q: Any, xs: Any,
    batch: Any, m: Any, n: Any, k: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """Q [m, k] and R [k, n] of matrices [m, n]; k is m or the smaller of both."""
    short = min(m, n)
    for b in range(batch):
        _copied(a, xs[b * m * n :], m * n)
        for j in range(short):
            _reflector(a, t, m, n, j)
            for column in range(j + 1, n):
                _reflected(a, n, column, a, t, m, n, j)
        r = rs[b * k * n :]
        for i in range(k):
            for j in range(n):
                r[i * n + j] = a[i * n + j] if j >= i else 0.0
        _identity(q, m, k)
        for j in range(short - 1, -1, -1):
            for column in range(k):
                _reflected(q, k, column, a, t, m, n, j)
        _copied(qs[b * m * k :], q, m * k)


# -- elimination -----------------------------------------------------------------------------------------


def _eliminated(a: Any, p: Any, n: Any) -> Any:
    """LU with the largest pivot of each column, in place, and the order of rows; the permutation's sign,
    or 0 for a singular matrix."""
    sign = 1.0
    for i in range(n):
        p[i] = i
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(a[i * n + j]) > abs(a[best * n + j]):
                best = i
        if best != j:
            sign = -sign
            row = p[j]
            p[j] = p[best]
            p[best] = row
            for c in range(n):
                x = a[j * n + c]
                a[j * n + c] = a[best * n + c]
                a[best * n + c] = x
        if a[j * n + j] == 0.0:
            return 0.0
        for i in range(j + 1, n):
            factor = a[i * n + j] / a[j * n + j]
            a[i * n + j] = factor
            for c in range(j + 1, n):
                a[i * n + c] -= factor * a[j * n + c]
    return sign


def lu(
    lus: Any,
    ps: Any,
    refused: Any,
    a: Any,
    p: Any,
    xs: Any,
    batch: Any,
    n: Any,
    first: Any,
    last: Any,
) -> None:
    """Both factors in one matrix, and the order of rows."""
    for b in range(batch):
        _copied(a, xs[b * n * n :], n * n)
        if a[0] != a[0] or _eliminated(a, p, n) == 0.0:
            refused[0] = 1
        _copied(lus[b * n * n :], a, n * n)
        _copied(ps[b * n :], p, n)


def log_determinant(
    signs: Any, logs: Any, a: Any, p: Any, xs: Any, batch: Any, n: Any, first: Any, last: Any
) -> None:
    """The sign and the logarithm of the absolute value; both are NaN if one is."""
    for b in range(batch):
        _copied(a, xs[b * n * n :], n * n)
        sign = _eliminated(a, p, n)
        total = 0.0
        for i in range(n):
            pivot = a[i * n + i]
            if sign != 0.0:
                total += math.log(abs(pivot))
                if pivot < 0.0:
                    sign = -sign
        signs[b] = sign if total == total else math.nan
        logs[b] = total if sign != 0.0 else -math.inf


def determinant(
    found: Any, a: Any, p: Any, xs: Any, batch: Any, n: Any, first: Any, last: Any
) -> None:
    """The product of pivots."""
    for b in range(batch):
        _copied(a, xs[b * n * n :], n * n)
        product = _eliminated(a, p, n)
        for i in range(n):
            if product != 0.0:
                product = product * a[i * n + i]
        found[b] = product


def solve(
    found: Any, refused: Any, a: Any, p: Any, x: Any, xs: Any, rights: Any,
    batch: Any, n: Any, k: Any, adjoint: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The solutions [n, k] for right sides [n, k]."""
    for b in range(batch):
        own, right, to = xs[b * n * n :], rights[b * n * k :], found[b * n * k :]
        for i in range(n):
            for j in range(n):
                a[i * n + j] = own[j * n + i] if adjoint else own[i * n + j]
        if own[0] != own[0] or _eliminated(a, p, n) == 0.0:
            refused[0] = 1
        for c in range(k):
            for i in range(n):
                total = float(right[p[i] * k + c])
                for j in range(i):
                    total -= a[i * n + j] * x[j]
                x[i] = total
            for i in range(n - 1, -1, -1):
                total = x[i]
                for j in range(i + 1, n):
                    total -= a[i * n + j] * x[j]
                x[i] = total / a[i * n + i]
            for i in range(n):
                to[i * k + c] = x[i]


def triangular(
    found: Any, x: Any, xs: Any, rights: Any,
    batch: Any, n: Any, k: Any, lower: Any, adjoint: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The solutions for triangular matrices, infinite or NaN behind a 0 on the diagonal."""
    for b in range(batch):
        own, right, to = xs[b * n * n :], rights[b * n * k :], found[b * n * k :]
        forward = lower != adjoint
        for c in range(k):
            for step in range(n):
                i = step if forward else n - 1 - step
                total = float(right[i * k + c])
                for before in range(step):
                    j = before if forward else n - 1 - before
                    element = own[j * n + i] if adjoint else own[i * n + j]
                    total -= element * x[j]
                x[i] = total / own[i * n + i]
            for i in range(n):
                to[i * k + c] = x[i]


def tridiagonal(
    found: Any, refused: Any, a: Any, x: Any, diagonals: Any, rights: Any,
    batch: Any, n: Any, k: Any, pivoting: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The solutions for tridiagonal matrices [3, n], by elimination; `a` has the rows of those of three diagonals.

    With `pivoting` that of two rows with the larger element is first, and a singular matrix has NaN; without it
    one is an error where a pivot is 0.
    """
    for b in range(batch):
        own, right, to = diagonals[b * 3 * n :], rights[b * n * k :], found[b * n * k :]
        for i in range(n):
            a[3 * i] = float(own[n + i])
            a[3 * i + 1] = float(own[i]) if i + 1 < n else 0.0
            a[3 * i + 2] = 0.0
            for c in range(k):
                x[i * k + c] = float(right[i * k + c])
        for i in range(n - 1):
            low, mid = float(own[2 * n + i + 1]), 3 * (i + 1)
            if pivoting and abs(low) > abs(a[3 * i]):
                factor = a[3 * i] / low
                above, beyond = a[3 * i + 1], a[mid + 1]
                a[3 * i] = low
                a[3 * i + 1] = a[mid]
                a[3 * i + 2] = beyond
                a[mid] = above - factor * a[3 * i + 1]
                a[mid + 1] = -factor * beyond
                for c in range(k):
                    upper = x[i * k + c]
                    x[i * k + c] = x[(i + 1) * k + c]
                    x[(i + 1) * k + c] = upper - factor * x[i * k + c]
                continue
            factor = math.nan
            if a[3 * i] != 0.0:
                factor = low / a[3 * i]
            elif not pivoting:
                refused[0] = 1
            a[mid] -= factor * a[3 * i + 1]
            for c in range(k):
                x[(i + 1) * k + c] -= factor * x[i * k + c]
        if a[3 * n - 3] == 0.0 and not pivoting:
            refused[0] = 1
        for c in range(k):
            for step in range(n):
                i = n - 1 - step
                total = x[i * k + c]
                if i + 1 < n:
                    total -= a[3 * i + 1] * x[(i + 1) * k + c]
                if i + 2 < n:
                    total -= a[3 * i + 2] * x[(i + 2) * k + c]
                x[i * k + c] = total / a[3 * i] if a[3 * i] != 0.0 else math.nan
            for i in range(n):
                to[i * k + c] = x[i * k + c]


def cholesky(found: Any, a: Any, xs: Any, batch: Any, n: Any, first: Any, last: Any) -> None:
    """The lower factor of what is positive definite, NaN of others."""
    for b in range(batch):
        own, to = xs[b * n * n :], found[b * n * n :]
        lost = False
        _filled(a, n * n, 0.0)
        for i in range(n):
            for j in range(i + 1):
                total = float(own[i * n + j])
                for c in range(j):
                    total -= a[i * n + c] * a[j * n + c]
                if i != j:
                    a[i * n + j] = total / a[j * n + j]
                else:
                    lost = lost or total <= 0.0
                    a[i * n + j] = math.sqrt(abs(total))
        if lost:
            for i in range(n):
                for j in range(i + 1):
                    a[i * n + j] = math.nan
        _copied(to, a, n * n)


# -- rotations ---------------------------------------------------------------------------------------------


def _tangent(difference: Any, product: Any) -> Any:
    """Of the smaller angle that makes a product zero: t² + 2 t (difference / 2 product) - 1 = 0."""
    theta = difference / (2.0 * product)
    if abs(theta) > 1e150:
        return 0.5 / theta
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    return -t if theta < 0.0 else t


def _rotated(x: Any, at: Any, other: Any, c: Any, s: Any) -> None:
    one, two = x[at], x[other]
    x[at] = c * one - s * two
    x[other] = s * one + c * two


def _diagonal(a: Any, v: Any, n: Any) -> Any:
    """Rotates a symmetric matrix until it is diagonal (Jacobi's method); whether it is."""
    for sweep in range(SWEEPS):
        done = True
        for p in range(n):
            for q in range(p + 1, n):
                off = a[p * n + q]
                least = abs(a[p * n + p]) + abs(a[q * n + q])
                if least + abs(off) * 0.125 == least and (off == 0.0 or sweep > 3):
                    a[p * n + q] = 0.0
                    a[q * n + p] = 0.0
                    continue
                done = False
                t = _tangent(a[q * n + q] - a[p * n + p], off)
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for i in range(n):
                    _rotated(a, i * n + p, i * n + q, c, s)
                    _rotated(v, i * n + p, i * n + q, c, s)
                for i in range(n):
                    _rotated(a, p * n + i, q * n + i, c, s)
                a[p * n + q] = 0.0
                a[q * n + p] = 0.0
        if done:
            return True
    return False


def eigen(
    values: Any, vectors: Any, a: Any, v: Any, xs: Any,
    batch: Any, n: Any, wanted: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """Eigenvalues in ascending order, and the vectors as columns, of what the lower triangles say."""
    for b in range(batch):
        own = xs[b * n * n :]
        for i in range(n):
            for j in range(n):
                a[i * n + j] = own[i * n + j] if j <= i else own[j * n + i]
        _identity(v, n, n)
        done = _diagonal(a, v, n)
        for place in range(n):
            least = -1
            for i in range(n):
                is_left = a[i * n + i] == a[i * n + i]
                if is_left and (least < 0 or a[i * n + i] < a[least * n + least]):
                    least = i
            if least < 0 or not done:
                values[b * n + place] = math.nan
                if wanted:
                    for i in range(n):
                        vectors[b * n * n + i * n + place] = math.nan
                continue
            values[b * n + place] = a[least * n + least]
            a[least * n + least] = math.nan
            if wanted:
                for i in range(n):
                    vectors[b * n * n + i * n + place] = v[i * n + least]


def _orthogonal(w: Any, v: Any, m: Any, n: Any) -> Any:
    """Rotates n columns of m elements, which follow each other, until they are orthogonal; whether they are.

    The largest element is about 1. A product of columns is zero as far as its rounding says, which grows
    with their length, and so are columns whose squares are no longer normal numbers.
    """
    close = 2.2e-16 * math.sqrt(1.0 * m)
    for _sweep in range(SWEEPS):
        done = True
        for p in range(n):
            for q in range(p + 1, n):
                one, two = 0.0, 0.0
                both = 0.0
                for i in range(m):
                    one += w[p * m + i] * w[p * m + i]
                    two += w[q * m + i] * w[q * m + i]
                    both += w[p * m + i] * w[q * m + i]
                if min(one, two) < 1e-280:
                    continue
                if abs(both) <= close * math.sqrt(one) * math.sqrt(two):
                    continue
                done = False
                t = _tangent(two - one, both)
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for i in range(m):
                    _rotated(w, p * m + i, q * m + i, c, s)
                for i in range(n):
                    _rotated(v, p * n + i, q * n + i, c, s)
        if done:
            return True
    return False


def _completed(u: Any, m: Any, known: Any, count: Any) -> None:
    """Adds columns to orthonormal ones: of unit vectors that which is farthest from those before."""
    for column in range(known, count):
        best, farthest = 0, -1.0
        for unit in range(m):
            rest = 1.0
            for j in range(column):
                rest -= u[j * m + unit] * u[j * m + unit]
            if rest > farthest:
                farthest = rest
                best = unit
        for i in range(m):
            u[column * m + i] = 1.0 if i == best else 0.0
        for _again in range(2):
            for j in range(column):
                total = 0.0
                for i in range(m):
                    total += u[j * m + i] * u[column * m + i]
                for i in range(m):
                    u[column * m + i] -= total * u[j * m + i]
        size = 0.0
        for i in range(m):
            size += u[column * m + i] * u[column * m + i]
        for i in range(m):
            u[column * m + i] = u[column * m + i] / math.sqrt(size)


def svd(
    ss: Any, us: Any, vs: Any, w: Any, v: Any, u: Any, order: Any, sizes: Any, xs: Any,
    batch: Any, rows: Any, columns: Any, k: Any, wanted: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """Singular values in descending order; the vectors as columns, k of the longer side's.

    A matrix is transposed so that it has no fewer rows m than columns n.
    """
    flat = rows < columns
    m, n = max(rows, columns), min(rows, columns)
    for b in range(batch):
        own = xs[b * m * n :]
        largest = 0.0
        for i in range(m * n):
            largest = max(largest, abs(float(own[i])))
        scale = largest if 0.0 < largest < math.inf else 1.0
        for i in range(m):
            for j in range(n):
                w[j * m + i] = float(own[j * m + i] if flat else own[i * n + j]) / scale
        _identity(v, n, n)
        done = _orthogonal(w, v, m, n)
        for j in range(n):
            total = 0.0
            for i in range(m):
                total += w[j * m + i] * w[j * m + i]
            sizes[j] = math.sqrt(total)
        rank = 0
        for place in range(n):
            best = -1
            for j in range(n):
                if sizes[j] >= 0.0 and (best < 0 or sizes[j] > sizes[best]):
                    best = j
            if best < 0 or not done:
                ss[b * n + place] = math.nan
                order[place] = place
                continue
            order[place] = best
            ss[b * n + place] = sizes[best] * scale
            if sizes[best] > 1e-140:
                rank = place + 1
                for i in range(m):
                    u[place * m + i] = w[best * m + i] / sizes[best]
            sizes[best] = -1.0
        if not wanted:
            continue
        _completed(u, m, rank, k)
        longer = vs[b * m * k :] if flat else us[b * m * k :]
        shorter = us[b * n * n :] if flat else vs[b * n * n :]
        for i in range(m):
            for j in range(k):
                longer[i * k + j] = u[j * m + i] if done else math.nan
        for i in range(n):
            for j in range(n):
                shorter[i * n + j] = v[order[j] * n + i] if done else math.nan


# -- functions of matrices -------------------------------------------------------------------------------------


def exponential(
    found: Any,
    a: Any,
    e: Any,
    x: Any,
    xs: Any,
    batch: Any,
    n: Any,
    terms: Any,
    first: Any,
    last: Any,
) -> None:
    """Of a matrix that is halved until its series converges at once; the result is squared as often."""
    for b in range(batch):
        _copied(a, xs[b * n * n :], n * n)
        norm = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += abs(a[i * n + j])
            norm = max(norm, total)
        halvings = 0
        while norm > 0.5 and norm < math.inf:
            norm = norm * 0.5
            halvings += 1
            for i in range(n * n):
                a[i] = a[i] * 0.5
        _identity(e, n, n)
        for term in range(terms, 0, -1):
            _multiplied(x, a, e, n)
            for i in range(n * n):
                e[i] = x[i] / term
            for i in range(n):
                e[i * n + i] += 1.0
        for _halving in range(halvings):
            _multiplied(x, e, e, n)
            _copied(e, x, n * n)
        _copied(found[b * n * n :], e, n * n)


def _multiplied(to: Any, one: Any, two: Any, n: Any) -> None:
    for i in range(n):
        for j in range(n):
            total = 0.0
            for c in range(n):
                total += one[i * n + c] * two[c * n + j]
            to[i * n + j] = total
