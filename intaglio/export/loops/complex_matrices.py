"""Functions of complex matrices, by their Schur form: real and imaginary parts are arrays of float64.

A = Q T Q^H with T upper triangular, by rotations to Hessenberg form and the QR algorithm with single shifts
(G. H. Golub and C. F. Van Loan, "Matrix Computations", chapter 7). Functions of T are recurrences over its
diagonals (A. Bjorck and S. Hammarling, 1983), and its logarithm that of as many square roots as bring it near to
the identity.
"""

from __future__ import annotations

import math
from typing import Any

# Steps of the QR algorithm for each eigenvalue; some of them shift by another number, so that none repeats.
STEPS = 60
EXCEPTIONAL = 10
# Square roots, at most, and the norm from which on a sum of resolvents is the logarithm.
MAX_ROOTS = 100
NEAR_ONE = 0.25
# Eigenvalues on the negative real axis, or just below it by rounding, count as its upper side.
BELOW_AXIS = 1e-9


def _root(re: Any, im: Any) -> Any:
    """The principal square root of a number."""
    size = math.sqrt(re * re + im * im)
    if size == 0.0:
        return 0.0, 0.0
    if re >= 0.0:
        a = math.sqrt((size + re) * 0.5)
        return a, im / (2.0 * a)
    b = math.sqrt((size - re) * 0.5)
    return abs(im) / (2.0 * b), b if im >= 0.0 else -b


def _quotient(ar: Any, ai: Any, br: Any, bi: Any) -> Any:
    """A quotient, without overflow in between."""
    scale = max(abs(br), abs(bi))
    cr, ci = br / scale, bi / scale
    size = (cr * cr + ci * ci) * scale
    return (ar * cr + ai * ci) / size, (ai * cr - ar * ci) / size


def _rotation(ar: Any, ai: Any, br: Any, bi: Any) -> Any:
    """c and the parts of s: [c, s; -conj(s), c] of (a, b) has the second element 0."""
    one = math.sqrt(ar * ar + ai * ai)
    two = math.sqrt(br * br + bi * bi)
    both = math.sqrt(one * one + two * two)
    if two == 0.0:
        return 1.0, 0.0, 0.0
    if one == 0.0:
        return 0.0, br / two, -bi / two
    ur, ui = ar / one, ai / one
    return one / both, (ur * br + ui * bi) / both, (ui * br - ur * bi) / both


def _rows(hr: Any, hi: Any, i: Any, n: Any, c: Any, sr: Any, si: Any) -> None:
    """Rotates rows i and i + 1."""
    for k in range(n):
        a, b = i * n + k, (i + 1) * n + k
        xr, xi, yr, yi = hr[a], hi[a], hr[b], hi[b]
        hr[a] = c * xr + sr * yr - si * yi
        hi[a] = c * xi + sr * yi + si * yr
        hr[b] = c * yr - sr * xr - si * xi
        hi[b] = c * yi - sr * xi + si * xr


def _columns(hr: Any, hi: Any, j: Any, n: Any, c: Any, sr: Any, si: Any) -> None:
    """Rotates columns j and j + 1 back."""
    for k in range(n):
        a, b = k * n + j, k * n + j + 1
        xr, xi, yr, yi = hr[a], hi[a], hr[b], hi[b]
        hr[a] = c * xr + sr * yr + si * yi
        hi[a] = c * xi + sr * yi - si * yr
        hr[b] = c * yr - sr * xr + si * xi
        hi[b] = c * yi - sr * xi - si * xr


def _rotated(hr: Any, hi: Any, qr: Any, qi: Any, i: Any, n: Any, c: Any, sr: Any, si: Any) -> None:
    """The same matrix in another basis."""
    _rows(hr, hi, i, n, c, sr, si)
    _columns(hr, hi, i, n, c, sr, si)
    _columns(qr, qi, i, n, c, sr, si)


def _shift(hr: Any, hi: Any, last: Any, n: Any) -> Any:
    """Of the last two rows' eigenvalues that which is nearer to the last element (J. H. Wilkinson)."""
    a, b, c, d = (
        (last - 1) * n + last - 1,
        (last - 1) * n + last,
        last * n + last - 1,
        last * n + last,
    )
    half_r, half_i = (hr[a] - hr[d]) * 0.5, (hi[a] - hi[d]) * 0.5
    pr = hr[b] * hr[c] - hi[b] * hi[c]
    pi = hr[b] * hi[c] + hi[b] * hr[c]
    rr, ri = _root(half_r * half_r - half_i * half_i + pr, 2.0 * half_r * half_i + pi)
    if half_r * rr + half_i * ri < 0.0:
        rr, ri = -rr, -ri
    tr, ti = half_r + rr, half_i + ri
    if tr == 0.0 and ti == 0.0:
        return hr[d], hi[d]
    xr, xi = _quotient(pr, pi, tr, ti)
    return hr[d] - xr, hi[d] - xi


def _schur(hr: Any, hi: Any, qr: Any, qi: Any, n: Any) -> Any:
    """Makes a matrix upper triangular in the basis Q; whether it is."""
    for i in range(n * n):
        qr[i] = 0.0
        qi[i] = 0.0
    for i in range(n):
        qr[i * n + i] = 1.0
    for k in range(n - 2):
        for step in range(n - 2 - k):
            i = n - 1 - step
            above, own = (i - 1) * n + k, i * n + k
            c, sr, si = _rotation(hr[above], hi[above], hr[own], hi[own])
            _rotated(hr, hi, qr, qi, i - 1, n, c, sr, si)
            hr[own] = 0.0
            hi[own] = 0.0
    last, step = n - 1, 0
    while last > 0 and step < STEPS * n:
        first = int(last)
        while first > 0:
            at = first * n + first - 1
            near = abs(hr[first * n + first]) + abs(hi[first * n + first])
            near = near + abs(hr[at - n]) + abs(hi[at - n])
            if near + (abs(hr[at]) + abs(hi[at])) * 0.125 == near:
                hr[at] = 0.0
                hi[at] = 0.0
                break
            first -= 1
        if first == last:
            last -= 1
            continue
        step += 1
        tr, ti = _shift(hr, hi, last, n)
        if step % EXCEPTIONAL == 0:
            tr = tr + abs(hr[last * n + last - 1]) + abs(hi[last * n + last - 1])
        corner = first * n + first
        xr, xi = hr[corner] - tr, hi[corner] - ti
        yr, yi = hr[corner + n], hi[corner + n]
        for k in range(first, last):
            c, sr, si = _rotation(xr, xi, yr, yi)
            _rotated(hr, hi, qr, qi, k, n, c, sr, si)
            if k > first:
                hr[(k + 1) * n + k - 1] = 0.0
                hi[(k + 1) * n + k - 1] = 0.0
            if k + 1 < last:
                xr, xi = hr[(k + 1) * n + k], hi[(k + 1) * n + k]
                yr, yi = hr[(k + 2) * n + k], hi[(k + 2) * n + k]
    for i in range(n):
        for j in range(i):
            hr[i * n + j] = 0.0
            hi[i * n + j] = 0.0
    return last == 0


def _above_axis(hr: Any, hi: Any, n: Any) -> None:
    """Moves eigenvalues just below the negative real axis to its upper side."""
    for i in range(n):
        at = i * n + i
        if hr[at] < 0.0 and hi[at] <= 0.0 and -hi[at] <= BELOW_AXIS * -hr[at]:
            hi[at] = abs(hi[at])


def _triangular_root(ur: Any, ui: Any, tr: Any, ti: Any, n: Any) -> None:
    """The principal square root of an upper triangular matrix, column by column."""
    for i in range(n * n):
        ur[i] = 0.0
        ui[i] = 0.0
    for j in range(n):
        for step in range(j + 1):
            i = j - step
            at = i * n + j
            if i == j:
                ur[at], ui[at] = _root(tr[at], ti[at])
                continue
            sr, si = float(tr[at]), float(ti[at])
            for k in range(i + 1, j):
                a, b = i * n + k, k * n + j
                sr -= ur[a] * ur[b] - ui[a] * ui[b]
                si -= ur[a] * ui[b] + ui[a] * ur[b]
            br, bi = ur[i * n + i] + ur[j * n + j], ui[i * n + i] + ui[j * n + j]
            if (br != 0.0 or bi != 0.0) or (sr != 0.0 or si != 0.0):
                ur[at], ui[at] = _quotient(sr, si, br, bi)


def _triangular_logarithm(
    lr: Any,
    li: Any,
    tr: Any,
    ti: Any,
    xr: Any,
    xi: Any,
    nodes: Any,
    weights: Any,
    count: Any,
    n: Any,
) -> None:
    """The principal logarithm of an upper triangular matrix, which is overwritten."""
    for i in range(n * n):
        lr[i] = 0.0
        li[i] = 0.0
    for i in range(
        n
    ):  # those of the eigenvalues themselves, behind the matrix that is made of others
        at = i * n + i
        size = math.sqrt(tr[at] * tr[at] + ti[at] * ti[at])
        xr[n * n + i] = math.log(size)
        xi[n * n + i] = _angle(tr[at], ti[at])
    scale = 1.0
    for _root_number in range(MAX_ROOTS):
        norm = 0.0
        for j in range(n):
            total = 0.0
            for i in range(j + 1):
                re = tr[i * n + j] - (1.0 if i == j else 0.0)
                total += math.sqrt(re * re + ti[i * n + j] * ti[i * n + j])
            norm = max(norm, total)
        if norm <= NEAR_ONE or norm != norm:
            break
        _triangular_root(xr, xi, tr, ti, n)
        for i in range(n * n):
            tr[i] = xr[i]
            ti[i] = xi[i]
        scale = scale * 2.0
    for i in range(n):
        tr[i * n + i] -= 1.0
    # The sum over nodes of weight * (1 + node * T)^-1 T, each by substitution from below.
    for number in range(count):
        node, weight = float(nodes[number]), float(weights[number])
        for j in range(n):
            for step in range(j + 1):
                i = j - step
                sr, si = float(tr[i * n + j]), float(ti[i * n + j])
                for k in range(i + 1, j + 1):
                    a, b = i * n + k, k * n + j
                    sr -= node * (tr[a] * xr[b] - ti[a] * xi[b])
                    si -= node * (tr[a] * xi[b] + ti[a] * xr[b])
                at = i * n + i
                xr[i * n + j], xi[i * n + j] = _quotient(sr, si, 1.0 + node * tr[at], node * ti[at])
                lr[i * n + j] += weight * xr[i * n + j]
                li[i * n + j] += weight * xi[i * n + j]
    for i in range(n):
        for j in range(i + 1, n):
            lr[i * n + j] = lr[i * n + j] * scale
            li[i * n + j] = li[i * n + j] * scale
        lr[i * n + i] = xr[n * n + i]
        li[i * n + i] = xi[n * n + i]


def _angle(re: Any, im: Any) -> Any:
    """The angle of a number, in (-pi, pi], by halving it until the series converges fast."""
    x, y, factor = float(re), float(im), 1.0
    for _half in range(4):
        x, y = _root(x, y)
        factor = factor * 2.0
    u = y / x
    square, total = u * u, 0.0
    for step in range(14):
        k = 27 - 2 * step
        total = 1.0 / float(k) - square * total
    return factor * u * total


def _back(
    found_r: Any, found_i: Any, qr: Any, qi: Any, tr: Any, ti: Any, xr: Any, xi: Any, n: Any
) -> None:
    """Q T Q^H."""
    for i in range(n):
        for j in range(n):
            sr, si = 0.0, 0.0
            for k in range(j + 1):
                a, b = i * n + k, k * n + j
                sr += qr[a] * tr[b] - qi[a] * ti[b]
                si += qr[a] * ti[b] + qi[a] * tr[b]
            xr[i * n + j] = sr
            xi[i * n + j] = si
    for i in range(n):
        for j in range(n):
            sr, si = 0.0, 0.0
            for k in range(n):
                a, b = i * n + k, j * n + k
                sr += xr[a] * qr[b] + xi[a] * qi[b]
                si += xi[a] * qr[b] - xr[a] * qi[b]
            found_r[i * n + j] = sr
            found_i[i * n + j] = si


def function(
    found_r: Any, found_i: Any, hr: Any, hi: Any, qr: Any, qi: Any, tr: Any, ti: Any, xr: Any, xi: Any,
    real: Any, imaginary: Any, nodes: Any, weights: Any,
    batch: Any, n: Any, count: Any, logarithm: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The principal logarithm of matrices, NaN of singular ones, or their principal square root."""
    for b in range(batch):
        own = b * n * n
        for i in range(n * n):
            hr[i] = real[own + i]
            hi[i] = imaginary[own + i]
        right = _schur(hr, hi, qr, qi, n)
        _above_axis(hr, hi, n)
        for i in range(n):
            at = i * n + i
            size = abs(hr[at]) + abs(hi[at])
            right = right and size < math.inf and (size > 0.0 or not logarithm)
        if right and logarithm:
            _triangular_logarithm(tr, ti, hr, hi, xr, xi, nodes, weights, count, n)
        elif right:
            _triangular_root(tr, ti, hr, hi, n)
        _back(found_r[own:], found_i[own:], qr, qi, tr, ti, xr, xi, n)
        if not right:
            for i in range(n * n):
                found_r[own + i] = math.nan
                found_i[own + i] = math.nan
