"""The error function and its relatives.

Computed in double precision with the rational approximations of S. L. Moshier's Cephes
library (Methods and Programs for Mathematical Functions, 1989); erf of float32 numbers in their
own precision, with polynomials fitted to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16, float16, float32, float64
from intaglio.opdef import raw
from intaglio.opdef.machine_code import WORK_PER_POLYNOMIALS
from intaglio.opdef.op import op
from intaglio.opdef.scalar import in_blocks, select
from intaglio.ops.compiled import CompiledUnary, by_numbers
from intaglio.ops.families import Unary, constant

# The elements up to which Python's functions are faster than NumPy's passes.
MAX_NUMBERS = 256
FLOATS = (bfloat16, float16, float32, float64)

# Coefficients, the highest power's first.
ERF = (
    (
        9.60497373987051638749e0,
        9.00260197203842689217e1,
        2.23200534594684319226e3,
        7.00332514112805075473e3,
        5.55923013010394962768e4,
    ),
    (
        1.0,
        3.35617141647503099647e1,
        5.21357949780152679795e2,
        4.59432382970980127987e3,
        2.26290000613890934246e4,
        4.92673942608635921086e4,
    ),
)
ERFC = (
    (2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0,
     4.86371970985681366614e1, 1.96520832956077098242e2, 5.26445194995477358631e2,
     9.34528527171957607540e2, 1.02755188689515710272e3, 5.57535335369399327526e2),
    (1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2,
     9.75708501743205489753e2, 1.82390916687909736289e3, 2.24633760818710981792e3,
     1.65666309194161350182e3, 5.57535340817727675546e2),
)  # fmt: skip
ERFC_FAR = (
    (5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0,
     6.16021097993053585195e0, 7.40974269950448939160e0, 2.97886665372100240670e0),
    (1.0, 2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1,
     1.70814450747565897222e1, 9.60896809063285878198e0, 3.36907645100081516050e0),
)  # fmt: skip
NDTRI_MIDDLE = (
    (-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1,
     1.39312609387279679503e1, -1.23916583867381258016e0),
    (1.0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1,
     -2.25462687854119370527e2, 2.00260212380060660359e2, -8.20372256168333339912e1,
     1.59056225126211695515e1, -1.18331621121330003142e0),
)  # fmt: skip
NDTRI_TAIL = (
    (4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1,
     4.40805073893200834700e1, 1.46849561928858024014e1, 2.18663306850790267539e0,
     -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4),
    (1.0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1,
     1.50425385692907503408e1, 2.50464946208309415979e0, -1.42182922854787788574e-1,
     -3.80806407691578277194e-2, -9.33259480895457427372e-4),
)  # fmt: skip
NDTRI_FAR = (
    (3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0,
     1.33303460815807542389e0, 2.01485389549179081538e-1, 1.23716634817820021358e-2,
     3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9),
    (1.0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0,
     2.16236993594496635890e-1, 1.34204006088543189037e-2, 3.28014464682127739104e-4,
     2.89247864745380683936e-6, 6.79019408009981274425e-9),
)  # fmt: skip


# erf(x) / x - 1 as a polynomial in x * x up to 1, and log(1 - erf(x)) as one in x from there to 4.
_NEAR = np.array(
    [
        7.853857725316263e-05,
        -8.010192526531346e-04,
        5.188327560681202e-03,
        -2.68538118694827e-02,
        1.1283585147040803e-01,
        -3.761262582409434e-01,
        1.283791657266897e-01,
    ],
    np.float32,
)
_TAIL = np.array(
    [
        -2.0828618307589476e-05,
        4.3139356446064703e-04,
        -4.156254910336124e-03,
        2.508061648258976e-02,
        -1.0822038403618545e-01,
        -6.334008508595681e-01,
        -1.129488406431864e00,
        1.6920512759273365e-04,
    ],
    np.float32,
)


def erf_single(x: Any) -> Any:
    """The error function of float32 numbers, with an error of at most two units in the last place."""
    near = x * _polynomial(_NEAR, x * x) + x
    size = np.abs(x)
    tail = np.exp(_polynomial(_TAIL, np.minimum(size, np.float32(4))))
    far = np.copysign(np.float32(1) - tail, x)
    return select(np.less(size, np.float32(1)), near, far)


# log(erfc(x) exp(x * x) / t) as a polynomial in t - _CENTRE, where t = 1 / (1 + x / 2).
_CENTRE = 0.5793650793650793
_SCALED = (
    -8.047873568433526e-02,
    -1.397704040734038e-01,
    1.886616496968723e-01,
    1.3566587753406484e-01,
    -2.5603904638036806e-01,
    -4.5596284787390966e-02,
    2.968762490536591e-01,
    -4.0572914704508724e-02,
    -4.0681578576403776e-01,
    9.553841349510894e-02,
    1.3679981644105526e00,
    -5.640253971650412e-01,
)


def erfc_single(x: Any) -> Any:
    """1 - erf(x) of float32 numbers, computed in float64."""
    size = np.abs(x).astype(np.float64)
    t = 1 / (1 + 0.5 * size)
    size *= size
    tail = _polynomial(_SCALED, t - _CENTRE)
    tail -= size
    tail = np.exp(tail, out=tail)
    tail *= t
    return np.where(np.less(x, 0), 2 - tail, tail).astype(np.float32)


def _polynomial(coefficients: Any, x: Any) -> Any:
    total = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        total *= x
        total += c
    return total


def _ratio(x: Any, coefficients: Any) -> Any:
    above, below = coefficients
    return _polynomial(above, x) / _polynomial(below, x)


def erf(x: Any) -> Any:
    """The error function of float64 numbers."""
    inside = np.clip(x, -1.0, 1.0)
    result = np.asarray(inside * _ratio(inside * inside, ERF))
    far = ~(np.abs(x) <= 1)
    if far.any():
        result[far] = 1 - erfc_outside(np.asarray(x)[far])
    return result


def erfc(x: Any) -> Any:
    """1 - erf(x) of float64 numbers, exact where it is small."""
    near = np.abs(x) <= 1
    inside = np.where(near, x, 0.0)
    return np.where(near, 1 - inside * _ratio(inside * inside, ERF), erfc_outside(x))


def erfc_outside(x: Any) -> Any:
    """erfc(x) for |x| > 1."""
    size = np.abs(x)
    far = size >= 8
    middle = np.clip(size, 1.0, 8.0)
    beyond = np.clip(size, 8.0, 40.0)
    ratio = _ratio(middle, ERFC)
    if np.any(far):
        ratio = np.where(far, _ratio(beyond, ERFC_FAR), ratio)
    bounded = np.minimum(size, 40.0)
    # exp(-x * x) with the rounding error of the square taken along.
    head = np.floor(bounded * 16) / 16
    rest = (bounded - head) * (bounded + head)
    tail = np.exp(-head * head) * np.exp(-rest) * ratio
    tail = np.where(np.isnan(x), x, tail)
    return np.where(x < 0, 2 - tail, tail)


def ndtri(p: Any) -> Any:
    """The number below which a standard normal variable falls with probability `p`."""
    edge = math.exp(-2)
    upper = p > 1 - edge
    low = np.where(upper, 1 - p, p)
    middle = low > edge
    y = np.where(middle, low - 0.5, 0.0)
    square = y * y
    central = (y + y * (square * _ratio(square, NDTRI_MIDDLE))) * math.sqrt(2 * math.pi)
    inside = np.where(middle | ~(low > 0), 0.1, low)
    x = np.sqrt(-2 * np.log(inside))
    first = x - np.log(x) / x
    z = 1 / x
    near = z * _ratio(z, NDTRI_TAIL)
    far = z * _ratio(z, NDTRI_FAR)
    tail = first - np.where(x < 8, near, far)
    result = np.where(middle, central, np.where(upper, tail, -tail))
    result = np.where(p == 0, -np.inf, np.where(p == 1, np.inf, result))
    return np.where((p < 0) | (p > 1) | np.isnan(p), np.nan, result)


def erfinv(x: Any) -> Any:
    """The number whose error function is x."""
    size = np.abs(x)
    y = -np.sign(x) * ndtri((1 - size) / 2) / math.sqrt(2)
    small = size < 0.5
    safe_y = np.where(small, y, 0.0)
    # One step of Newton's method: near 0 the probability has lost digits.
    slope = 2 / math.sqrt(math.pi) * np.exp(-safe_y * safe_y)
    better = safe_y - (erf(safe_y) - np.where(small, x, 0.0)) / slope
    return np.where(size > 1, np.nan, np.where(small, better, y))


def _by_precision(
    single: Callable[[Any], Any], double: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """The NumPy kernel of an op, of a function of float32 and one of float64."""

    def of_part(x: Any) -> Any:
        if x.dtype.itemsize <= 4:
            result = single(x.astype(np.float32, copy=False))
            return result.astype(x.dtype, copy=False)
        return double(x).astype(x.dtype, copy=False)

    return in_blocks(of_part)


class ErrorFunction(Unary):
    """y = f(x), computed in double precision, or in float32 where the family has such a function."""

    T = FLOATS
    blockwise = True


@op
class Erf(CompiledUnary, ErrorFunction):
    """The error function."""

    blockwise = False  # its NumPy kernel sees to that
    work_per_element = WORK_PER_POLYNOMIALS
    numpy_kernel = staticmethod(by_numbers(math.erf, _by_precision(erf_single, erf), MAX_NUMBERS))

    def scalar(self, s, x):
        return s.erf(x)

    def gradient(self, dy, x) -> Any:
        scale = constant(2 / math.sqrt(math.pi), x)
        return raw.Mul(dy, raw.Mul(scale, raw.Exp(raw.Neg(raw.Square(x)))))


@op
class Erfc(CompiledUnary, ErrorFunction):
    """1 - erf(x)."""

    blockwise = False  # its NumPy kernel sees to that
    work_per_element = WORK_PER_POLYNOMIALS
    numpy_kernel = staticmethod(
        by_numbers(math.erfc, _by_precision(erfc_single, erfc), MAX_NUMBERS)
    )

    def scalar(self, s, x):
        return s.erfc(x)

    def gradient(self, dy, x) -> Any:
        scale = constant(-2 / math.sqrt(math.pi), x)
        return raw.Mul(dy, raw.Mul(scale, raw.Exp(raw.Neg(raw.Square(x)))))


def _in_double(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The NumPy kernel of a function of float64 for numbers of any precision."""
    return in_blocks(lambda x: function(x.astype(np.float64)).astype(x.dtype))


@op
class Erfinv(CompiledUnary, ErrorFunction):
    """The number whose error function is x."""

    blockwise = False  # its NumPy kernel sees to that
    work_per_element = WORK_PER_POLYNOMIALS
    numpy_kernel = staticmethod(_in_double(erfinv))

    def scalar(self, s, x):
        return s.erfinv(x)

    def gradient(self, dy, y) -> Any:
        scale = constant(math.sqrt(math.pi) / 2, y)
        return raw.Mul(dy, raw.Mul(scale, raw.Exp(raw.Square(y))))


@op
class Ndtri(CompiledUnary, ErrorFunction):
    """The number below which a standard normal variable falls with probability x."""

    blockwise = False  # its NumPy kernel sees to that
    work_per_element = WORK_PER_POLYNOMIALS
    numpy_kernel = staticmethod(_in_double(ndtri))

    def scalar(self, s, x):
        return s.ndtri(x)

    def gradient(self, dy, y) -> Any:
        scale = constant(math.sqrt(2 * math.pi), y)
        half = raw.RealDiv(raw.Square(y), constant(2, y))
        return raw.Mul(dy, raw.Mul(scale, raw.Exp(half)))
