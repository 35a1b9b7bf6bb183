"""Integrals without a closed form: exponential, Fresnel's, Dawson's and Spence's.

Computed in double precision from Chebyshev series.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.opdef import raw
from intaglio.opdef.op import op
from intaglio.ops.families import constant
from intaglio.ops.math.chebyshev import PiecewiseSeries, pieces, series

EULER = 0.57721566490153286
# Where the exponential integral is 0, and what this number lacks.
EI_ZERO = 0.37250741078136663
EI_REST = 4.619918665801191e-18

DAWSON_NEAR = (
    0.3543465094470124, -0.3893107642176176, 0.17089534039047505, -0.061191892588124804,
    0.018301985244742625, -0.00467192989156846, 0.0010365819653278773, -0.0002029513125205603,
    3.550690195841706e-05, -5.609419849387663e-06, 8.073119603643203e-07,
    -1.0664581659684513e-07, 1.3014413690935905e-08, -1.4753953109525916e-09,
    1.5613944490987474e-10, -1.5491747535635642e-11, 1.446513125857662e-12,
    -1.2754109661612633e-13, 1.0651315628761883e-14, -8.448334457079042e-16,
    6.380150570258236e-17, -4.597933915019335e-18,
)  # fmt: skip
DAWSON_MIDDLE = (
    0.5265659000533424, -0.021231128120307557, 0.00700560435678961, -0.002155498988335425,
    0.0006050501487979647, -0.0001384784086239006, 1.730709992124936e-05,
    4.2264954896073465e-06, -3.715345151510379e-06, 1.3865128888618238e-06,
    -3.1738079118657305e-07, 3.0760381733030245e-08, 8.796664449641378e-09,
    -4.836855911930978e-09, 1.0727580138502935e-09, -7.488475975746581e-11,
    -3.0760079162982174e-11, 1.1738410353441887e-11, -1.6682724581316833e-12,
    -7.82181911960084e-14, 8.361660994033136e-14, -1.557914918561187e-14, 3.066768123976438e-16,
    4.715003402764151e-16, -1.0189238319103898e-16, 4.1897527272003885e-18,
    2.339478605134826e-18, -5.289576080459498e-19,
)  # fmt: skip
DAWSON_FAR = (
    0.5052465199077777, 0.005332594427422036, 8.85533671420732e-05, 2.584841984005503e-06,
    1.1223753891246858e-07, 6.732468572166737e-09, 5.400107833909702e-10, 5.744649131410629e-11,
    7.99993281296062e-12, 1.3515027900472426e-12, 2.2959364018456163e-13,
    2.4013996605627538e-14, -5.597657640645069e-15, -4.4255869885007335e-15,
    -1.3828461658020002e-15, -1.4514205760330854e-16, 7.772884740793366e-17,
    4.0971046792634656e-17, 4.94828526104857e-18, -2.9725405599502753e-18,
    -1.3663457364706915e-18,
)  # fmt: skip
EI_NEAR = (
    0.7274954836289181,
    -0.14337498671858998,
    0.11632636323897172,
    -0.009475296071409666,
    0.0030739323570966944,
    -0.00021118341708512445,
    4.0063055422362316e-05,
    -2.3644545643228846e-06,
    3.09449868004472e-07,
    -1.5952973388990612e-08,
    1.577123484426621e-09,
    -7.203552126874581e-11,
    5.692557028255065e-12,
    -2.3312047570110104e-13,
    1.5301348665466155e-14,
    -5.674433233601858e-16,
    3.179962908689904e-17,
    -1.0769334842433235e-18,
)
EI_MIDDLE = (
    1.1136907755039973, -0.09727423627565743, 0.041536476135826436, -0.01712833711347605,
    0.006538885456635689, -0.0021828157263006197, 0.0005695316979201968, -6.97987732381639e-05,
    -3.761974972891094e-05, 3.6676365822396836e-05, -1.9879278350407262e-05,
    8.462025436834638e-06, -3.058032856826224e-06, 9.625105604297806e-07, -2.64431442098986e-07,
    6.201136449582442e-08, -1.1441183163879293e-08, 1.0895559168591834e-09,
    3.2451406158955446e-10, -2.5439921854599444e-10, 1.0883484173803564e-10,
    -3.810885794504467e-11, 1.2007372308646213e-11, -3.549542677271168e-12,
    1.009224803676779e-12, -2.808477471390516e-13, 7.750120121944607e-14,
    -2.141422702746607e-14, 5.963399803872953e-15, -1.6799219034697589e-15,
    4.793890009246776e-16, -1.385458921959587e-16, 4.050604297002463e-17,
    -1.1962802603717267e-17, 3.5637087425715986e-18,
)  # fmt: skip
EI_FAR = (
    1.0222957360954668, 0.022812793514753286, 0.0005360936928493524, 2.0034094292122614e-05,
    1.0686092350144287e-06, 7.746060698591084e-08, 7.504513851387549e-09, 9.65386432321799e-10,
    1.5701407029249868e-10, 2.779058341161681e-11, 3.828483997307224e-12,
    -1.9274603059481113e-13, -3.984438522784285e-13, -1.5561943489863476e-13,
    -2.6325433913268538e-14, 5.119012243843834e-15, 4.450825135967824e-15,
    8.977579029888121e-16, -2.2282754984589544e-16, -1.6452081405038015e-16,
    -1.5179371674871094e-17, 1.6736756138129383e-17,
)  # fmt: skip
FRESNEL_COS = (
    0.5282931311708557,
    -0.37676220250161824,
    0.08537377549656906,
    -0.009010259972062552,
    0.0005393127720408215,
    -2.075044934605623e-05,
    5.564687021283882e-07,
    -1.0999812843114444e-08,
    1.6696510396208076e-10,
    -2.00773053966069e-12,
    1.9601599749420958e-14,
    -1.5849094421108914e-16,
    1.0788395601770007e-18,
)
FRESNEL_SIN = (
    0.3142743195347836,
    -0.18188587850106117,
    0.025424557742876257,
    -0.0019214582098450639,
    8.966525954745101e-05,
    -2.830802868181572e-06,
    6.442546962604405e-08,
    -1.1068235106036057e-09,
    1.4862338485609142e-11,
    -1.6028109554824476e-13,
    1.4188008517448966e-15,
    -1.0494270345038239e-17,
)
FRESNEL_F = (
    0.981897388025642, -0.016815761738886544, 0.0011111101131957286, -0.00014194845868748898,
    2.573388462638127e-05, -5.825182199468292e-06, 1.5407603655682865e-06,
    -4.578748796302829e-07, 1.4905494189550317e-07, -5.22362285480928e-08,
    1.9461303300745012e-08, -7.636065546787685e-09, 3.1327409020595134e-09,
    -1.336159449993398e-09, 5.897609307578255e-10, -2.683761646660688e-10,
    1.2551765589929496e-10, -6.017508171262957e-11, 2.950585319286974e-11,
    -1.4768791920816603e-11, 7.533630088100931e-12, -3.910705874613183e-12,
    2.063207436278322e-12, -1.105037176318212e-12, 6.002341367715982e-13,
    -3.303573989395916e-13, 1.8408411249387227e-13, -1.0377700207555701e-13,
    5.914960442658374e-14, -3.406495622619045e-14, 1.981213417478098e-14,
    -1.163066128449269e-14, 6.8885432071016185e-15, -4.114491356644075e-15,
    2.4774267176384166e-15, -1.5032255733547588e-15, 9.188409536137525e-16,
    -5.656057657350445e-16, 3.5052447154173926e-16, -2.1864323735173196e-16,
    1.3723243351904418e-16, -8.665174053081027e-17, 5.503016395229029e-17,
    -3.514279785733739e-17, 2.2563073391952208e-17, -1.4561492255794362e-17,
)  # fmt: skip
FRESNEL_G = (
    0.9221426716020494, -0.06906214763052552, 0.007238890271537089, -0.0011996677016620889,
    0.0002596539918795489, -6.714358497903509e-05, 1.974775280172846e-05,
    -6.408634587461064e-06, 2.2490337230565424e-06, -8.415113603118139e-07,
    3.3223826723856416e-07, -1.3732434958011088e-07, 5.905977762853783e-08,
    -2.6300394622715025e-08, 1.207920503525467e-08, -5.702974302643322e-09,
    2.7603594203312913e-09, -1.3665577383767004e-09, 6.906073231009886e-10,
    -3.556605659172573e-10, 1.8637963502564765e-10, -9.92558145176336e-11,
    5.365513786827292e-11, -2.9411940915540447e-11, 1.6334273488751434e-11,
    -9.18305528307402e-12, 5.222378422955888e-12, -3.0023141668161e-12, 1.7437729680688176e-12,
    -1.0226623661232437e-12, 6.052935455421029e-13, -3.6140335161379466e-13,
    2.1758432164588608e-13, -1.3203938434984878e-13, 8.073535920262689e-14,
    -4.9723746417524623e-14, 3.083680305872965e-14, -1.9251087652212756e-14,
    1.2094976239506076e-14, -7.645566116861354e-15, 4.861465217832254e-15,
    -3.108722872211414e-15, 1.998776935339329e-15, -1.291902338992428e-15, 8.39263846734525e-16,
    -5.478930298528224e-16, 3.5937725063744225e-16, -2.3680774244104883e-16,
    1.5673581501162976e-16, -1.0418554172706048e-16, 6.954347889402908e-17,
    -4.6608042621790536e-17, 3.135950584441872e-17, -2.1180310807167793e-17,
    1.4358312850373526e-17, -9.76872349878289e-18,
)  # fmt: skip
SPENCE = (
    1.0149416064096537, 0.13148012838765802, 0.015313452518102082, 0.002272188943655959,
    0.00038516199300815945, 7.103404374209115e-05, 1.3885622487404779e-05,
    2.8323954583854513e-06, 5.968314737835964e-07, 1.2902312437546724e-07,
    2.8475309127972237e-08, 6.392641519505728e-09, 1.4558235675968631e-09,
    3.356030027905024e-10, 7.818019409066589e-11, 1.8379324194103908e-11, 4.355524622917214e-12,
    1.0395111785603755e-12, 2.496666278162975e-13, 6.030470288343577e-14,
    1.4640624936086265e-14, 3.570903196070032e-15, 8.746346791364233e-16,
    2.1505456792131715e-16, 5.3064798693556575e-17, 1.3136479985932125e-17,
    3.2618102770187097e-18,
)  # fmt: skip


def dawson(x: Any) -> Any:
    """exp(-x^2) times the integral of exp(t^2) from 0 to x."""
    size = np.abs(x)
    result = pieces(
        size,
        [
            (size <= 2.5, lambda s: s * series(s * s / 3.125 - 1, DAWSON_NEAR)),
            ((size > 2.5) & (size <= 5), lambda s: series((s - 2.5) / 1.25 - 1, DAWSON_MIDDLE) / s),
            (size > 5, lambda s: series(50 / (s * s) - 1, DAWSON_FAR) / s),
        ],
    )
    return np.where(x < 0, -result, result)


def _ei_near(x: Any) -> Any:
    direct = EULER + np.log(x) + x * np.exp(x / 2) * series(x / 3 - 1, EI_NEAR)
    # Near the zero the sum cancels; what follows is the power series around it.
    d = x - EI_ZERO - EI_REST
    near = np.abs(d) < 1e-2
    h = np.where(near, d, 0.0)
    return np.where(near, _around_zero(h), direct)


def _around_zero(h: Any) -> Any:
    """The power series of Ei around its zero: from x * f' = exp(x)."""
    total = np.zeros_like(h)
    for c in reversed(EI_AROUND_ZERO):
        total = (total + c) * h
    return total


def _around() -> list[float]:
    """Its coefficients: those of exp(x) / x, integrated."""
    z, slope, coefficients = EI_ZERO, 0.0, []
    for k in range(12):
        slope = (math.exp(z) / math.factorial(k) - slope) / z
        coefficients.append(slope / (k + 1))
    return coefficients


EI_AROUND_ZERO = _around()


def expint(x: Any) -> Any:
    """The integral of exp(t) / t from -infinity to x, for x > 0; NaN below 0."""
    result = pieces(
        x,
        [
            ((x > 0) & (x <= 6), _ei_near),
            ((x > 6) & (x <= 24), lambda s: np.exp(s) / s * series((s - 6) / 9 - 1, EI_MIDDLE)),
            (x > 24, lambda s: np.exp(s) / s * series(48 / s - 1, EI_FAR)),
        ],
    )
    return np.where(x == 0, -np.inf, result)


def _fresnel(x: Any) -> tuple[Any, Any]:
    """(C, S), the integrals of cos and sin of pi t^2 / 2 from 0 to x."""
    size = np.abs(x)
    near = size < 1.6
    inside = np.where(near, size, 0.0)
    t = 2 * (inside / 1.6) ** 4 - 1
    c_near = inside * series(t, FRESNEL_COS)
    s_near = inside**3 * series(t, FRESNEL_SIN)
    outside = np.where(near, 2.0, size)
    t = 2 * (1.6 / outside) ** 4 - 1
    f = series(t, FRESNEL_F) / (math.pi * outside)
    g = series(t, FRESNEL_G) / (math.pi * outside * (math.pi * outside) * outside)
    # The angle modulo 2 pi, from the part of x whose square is exact.
    angle = math.pi / 2 * np.fmod(outside * outside, 4.0)
    angle = np.where(outside > 1e8, 0.0, angle)
    c_far = 0.5 + f * np.sin(angle) - g * np.cos(angle)
    s_far = 0.5 - f * np.cos(angle) - g * np.sin(angle)
    c = np.where(near, c_near, np.where(np.isinf(size), 0.5, c_far))
    s = np.where(near, s_near, np.where(np.isinf(size), 0.5, s_far))
    return np.copysign(c, x), np.copysign(s, x)


def _small_spence(w: Any) -> Any:
    """The dilogarithm of w in [-1/2, 1/2]."""
    return w * series(2 * w, SPENCE)


def spence(x: Any) -> Any:
    """The integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x."""
    third = math.pi * math.pi / 6
    result = pieces(
        x,
        [
            ((x > 0) & (x < 0.5), lambda s: third - np.log(s) * np.log1p(-s) - _small_spence(s)),
            ((x >= 0.5) & (x <= 1.5), lambda s: _small_spence(1 - s)),
            ((x > 1.5) & (x <= 2), lambda s: _inverted(s, _small_spence(1 - 1 / s))),
            (
                x > 2,
                lambda s: _inverted(
                    s, third - np.log(1 / s) * np.log1p(-1 / s) - _small_spence(1 / s)
                ),
            ),
        ],
    )
    result = np.where(np.isinf(x), np.nan, result)
    return np.where(x == 0, third, result)


def _inverted(x: Any, at_inverse: Any) -> Any:
    """spence(x) from spence(1 / x)."""
    return -0.5 * np.log(x) ** 2 - at_inverse


@op
class Dawsn(PiecewiseSeries):
    """Dawson's integral."""

    function = staticmethod(dawson)

    def scalar(self, s, x):
        return s.dawson(x)

    def gradient(self, dy, x, y) -> Any:
        slope = raw.Sub(constant(1, x), raw.Mul(constant(2, x), raw.Mul(x, y)))
        return raw.Mul(dy, slope)


@op
class Expint(PiecewiseSeries):
    """The exponential integral Ei."""

    function = staticmethod(expint)

    def scalar(self, s, x):
        return s.expint(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.RealDiv(raw.Exp(x), x))


def _fresnel_angle(x: Any) -> Any:
    return raw.Mul(constant(math.pi / 2, x), raw.Square(x))


@op
class FresnelCos(PiecewiseSeries):
    """The integral of cos(pi t^2 / 2) from 0 to x."""

    function = staticmethod(lambda x: _fresnel(x)[0])

    def scalar(self, s, x):
        return s.fresnel_cos(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Cos(_fresnel_angle(x)))


@op
class FresnelSin(PiecewiseSeries):
    """The integral of sin(pi t^2 / 2) from 0 to x."""

    function = staticmethod(lambda x: _fresnel(x)[1])

    def scalar(self, s, x):
        return s.fresnel_sin(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Sin(_fresnel_angle(x)))


@op
class Spence(PiecewiseSeries):
    """The integral of log(t) / (1 - t) from 1 to x."""

    function = staticmethod(spence)

    def scalar(self, s, x):
        return s.spence(x)

    def gradient(self, dy, x) -> Any:
        one = constant(1, x)
        at_one = raw.Equal(x, one)
        safe_x = raw.SelectV2(at_one, constant(2, x), x)
        slope = raw.RealDiv(raw.Log(safe_x), raw.Sub(one, safe_x))
        return raw.Mul(dy, raw.SelectV2(at_one, raw.Neg(one), slope))
