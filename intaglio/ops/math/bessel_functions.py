"""Bessel functions of orders 0 and 1, of all kinds.

Computed in double precision: Chebyshev series up to 8 (modified ones of the second kind: up
to 2), beyond it series in 1 / x of what is left when growth, decay or oscillation is taken out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16, float16, float32, float64
from intaglio.opdef import raw
from intaglio.opdef.op import op
from intaglio.ops.families import Unary, constant
from intaglio.ops.math.chebyshev import pieces, series

FLOATS = (bfloat16, float16, float32, float64)
EDGE = 8.0

_I0_NEAR = (
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764,
    0.04930528423967071, -0.02373741480589947, 0.010546460394594998, -0.004324309995050576,
    0.0016394756169413357, -0.0005763755745385824, 0.00018850288509584165,
    -5.754195010082104e-05, 1.6448448070728896e-05, -4.4167383584587505e-06,
    1.1173875391201037e-06, -2.670793853940612e-07, 6.046995022541919e-08,
    -1.300025009986248e-08, 2.6598237246823866e-09, -5.189795601635263e-10,
    9.675809035373237e-11, -1.726826291441556e-11, 2.95505266312964e-12, -4.856446783111929e-13,
    7.676185498604936e-14, -1.1685332877993451e-14, 1.715391285555133e-15,
    -2.431279846547955e-16, 3.3307945188222384e-17, -4.4153416464793395e-18,
    5.669178006921496e-19,
)  # fmt: skip
_I0_FAR = (
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06,
    2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10,
    1.1889147107846439e-11, -3.1499165279632416e-11, -1.3215811840447713e-11,
    -1.7941785315068062e-12, 7.180124451383666e-13, 3.8527783827421426e-13,
    1.54008621752141e-14, -4.150569347287222e-14, -9.554846698828307e-15,
    3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16,
    -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17,
    -4.830504485944182e-18, -7.233180487874754e-18, 9.921475412173699e-19,
    1.193650890845982e-18,
)  # fmt: skip
_I1_NEAR = (
    0.12629359322181682, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499,
    0.024726449030626516, -0.010564084894626197, 0.004156422944312888, -0.0015135724506312532,
    0.0005122859561685758, -0.00016176081582589674, 4.781565107550054e-05,
    -1.3273163656039436e-05, 3.4702513081376785e-06, -8.568720264695455e-07,
    2.0032947535521353e-07, -4.445059128796328e-08, 9.381537386495773e-09,
    -1.8872497517228294e-09, 3.625590281552117e-10, -6.663489723502027e-11,
    1.1736186298890901e-11, -1.9839743977649436e-12, 3.223793365945575e-13,
    -5.042185504727912e-14, 7.600684294735408e-15, -1.1055969477353862e-15,
    1.5536319577362005e-16, -2.111421214358166e-17, 2.7779141127610464e-18,
    -3.541581772542136e-19,
)  # fmt: skip
_I1_FAR = (
    0.38928811750914005, -0.009761097491361469, -0.00011058893876262371, -3.882564808877691e-06,
    -2.512236237870209e-07, -2.6314688468895196e-08, -3.835380385964237e-09,
    -5.589743462196584e-10, -1.8974958123505413e-11, 3.2526035830154884e-11,
    1.4125807436613782e-11, 2.0356285441470896e-12, -7.198551776245908e-13,
    -4.0835511110921974e-13, -2.1015418427726643e-14, 4.272440016711951e-14,
    1.0420276984128802e-14, -3.8144030724370075e-15, -1.8803547755107825e-15,
    3.3082023109209285e-16, 2.96262899764595e-16, -3.209525921993424e-17,
    -4.6503053684893586e-17, 4.414348323071708e-18, 7.517296310842105e-18,
    -9.314178867326884e-19, -1.242193275194891e-18,
)  # fmt: skip
_K0_NEAR = (
    -0.2676636966169514,
    0.3442898999246285,
    0.0359799365153615,
    0.001264615411446926,
    2.286212103119452e-05,
    2.5347910790261494e-07,
    1.904516377220209e-09,
    1.0349695257633625e-11,
    4.2598161427910826e-14,
    1.3744654358807508e-16,
    3.5708965285083736e-19,
)
_K1_NEAR = (
    0.7626501136694739,
    -0.3531559607765449,
    -0.12261118082265715,
    -0.006975723859639864,
    -0.0001730288957513052,
    -2.4334061415659684e-06,
    -2.213387630734726e-08,
    -1.4114883926335278e-10,
    -6.666901694199329e-13,
    -2.427449850519366e-15,
    -7.023863479386288e-18,
)
_K0_FAR = (
    1.2201515410329777, -0.0314481013119645, 0.0015698838857300533, -0.00012849549581627802,
    1.39498137188765e-05, -1.8317555227191195e-06, 2.766813639445015e-07,
    -4.660489897687948e-08, 8.574034017414225e-09, -1.6975345093890614e-09,
    3.5773972814003283e-10, -7.957489244477396e-11, 1.8559491149549264e-11,
    -4.514597883374519e-12, 1.1403405882073441e-12, -2.9800969231481784e-13,
    8.032890775068375e-14, -2.2275133267462965e-14, 6.340076476276646e-15,
    -1.848593377920907e-15, 5.5120559994043335e-16, -1.6782311257549006e-16,
    5.2103917776435543e-17, -1.6475805939842632e-17, 5.3004337711773354e-18,
    -1.7331712005821001e-18,
)  # fmt: skip
_K1_FAR = (
    1.3603130952422213, 0.10392373657681724, -0.002857816859622779, 0.00019521551847135162,
    -1.936197974166083e-05, 2.406484947837217e-06, -3.5019606030878126e-07,
    5.7410841254500495e-08, -1.0345762465678097e-08, 2.0150497551970347e-09,
    -4.1903547593419254e-10, 9.218315187605315e-11, -2.129967838427791e-11,
    5.139639673482343e-12, -1.2891739609498229e-12, 3.348419666052243e-13,
    -8.976705182010146e-14, 2.4771544242195988e-14, -7.0198370892147685e-15,
    2.038703166239861e-15, -6.057047270643018e-16, 1.8380935752430455e-16,
    -5.689462849193648e-17, 1.7940510478863572e-17, -5.7567444820733025e-18,
    1.8778651901623268e-18,
)  # fmt: skip
_J0_NEAR = (
    0.15772797147489012,
    -0.008723442352852221,
    0.2651786132033368,
    -0.37009499387264977,
    0.15806710233209725,
    -0.034893769411408884,
    0.004819180069467605,
    -0.00046062616620627504,
    3.246032882100508e-05,
    -1.7619469077621507e-06,
    7.608163592418782e-08,
    -2.679253530557673e-09,
    7.848696314479465e-11,
    -1.9438346867370164e-12,
    4.125320595634374e-14,
    -7.588508125447546e-16,
    1.2218515873961411e-17,
)
_J1_NEAR = (
    0.08104484632565812,
    -0.1489751450676521,
    0.1609992623572097,
    -0.08268049176681791,
    0.022213639654966037,
    -0.003646940600769276,
    0.0004050337728354822,
    -3.255554866857259e-05,
    1.9858774049915165e-06,
    -9.521984756750436e-08,
    3.687133759097148e-09,
    -1.178026622695885e-10,
    3.160154580348003e-12,
    -7.221755239651773e-14,
    1.4232144003513942e-15,
    -2.4441972916190464e-17,
    3.6912682997929334e-19,
)
_Y0_NEAR = (
    0.03645469809116044,
    -0.2783237094075825,
    0.2960499990207148,
    0.09825508408187864,
    -0.10755155280627783,
    0.031799074084414514,
    -0.005161397105810715,
    0.0005498525320039012,
    -4.1996983149420134e-05,
    2.4290361107923793e-06,
    -1.1049969793472957e-07,
    4.06651736597911e-09,
    -1.2374148898289854e-10,
    3.1685725528945945e-12,
    -6.926956032431002e-14,
    1.3086308625876684e-15,
    -2.1586201986914482e-17,
    3.136863182479938e-19,
)
_Y1_NEAR = (
    0.038300769852423776,
    -0.08182561412732826,
    -0.0248677076121964,
    0.047967452752746984,
    -0.01852588451089802,
    0.003680607687823511,
    -0.0004627254060293369,
    4.06940026958087e-05,
    -2.6617695125295625e-06,
    1.350602691325434e-07,
    -5.483524110336276e-09,
    1.8245086841229007e-10,
    -5.070666636591129e-12,
    1.1956162517587948e-13,
    -2.423162442712473e-15,
    4.268126513072962e-17,
    -6.596060978723042e-19,
)
_P0 = (
    0.9994603493475187,
    -0.0005365220468132117,
    3.0751847875194745e-06,
    -5.1705945376060975e-08,
    1.6306464635151382e-09,
    -7.86409137723707e-11,
    5.168262387349193e-12,
    -4.3045788699253914e-13,
    4.3265957431549404e-14,
    -5.069034095935236e-15,
    6.748072215733873e-16,
    -1.0011513723467786e-16,
    1.6305919233744186e-17,
    -2.880866169482871e-18,
)
_Q0 = (
    -0.12444683684269607,
    0.0005470815954089319,
    -5.9315987288485175e-06,
    1.4377965798375193e-07,
    -5.817532749493056e-09,
    3.376097523734991e-10,
    -2.565397936797308e-11,
    2.404916100281365e-12,
    -2.6690625482579414e-13,
    3.4041800321963686e-14,
    -4.87994410531204e-15,
    7.729703176242605e-16,
    -1.3348852171502517e-16,
    2.4865952389390515e-17,
    -4.952892629886516e-18,
    1.0473158973776097e-18,
    -2.336930172211422e-19,
)
_P1 = (
    1.0009030408600137,
    0.0008989898330859408,
    -3.987284300488908e-06,
    6.177633960644299e-08,
    -1.8718907491063067e-09,
    8.816898659582339e-11,
    -5.704863640395645e-12,
    4.699195515230542e-13,
    -4.6842237839904895e-14,
    5.452674896044717e-15,
    -7.221180842274018e-16,
    1.0667689114335412e-16,
    -1.7312313216116335e-17,
    3.0492991197665872e-18,
)
_Q1 = (
    0.3742222965562826,
    -0.0007702178839325664,
    7.3108922063643636e-06,
    -1.676782510726674e-07,
    6.583354662120443e-09,
    -3.749090950541556e-10,
    2.8121750359748866e-11,
    -2.61145253946232e-12,
    2.8774212663332235e-13,
    -3.649001916061838e-14,
    5.206626366226707e-15,
    -8.215318025458595e-16,
    1.4141084390211833e-16,
    -2.626761589838529e-17,
    5.2192649196714085e-18,
    -1.101261718787959e-18,
)


def i0e(x: Any) -> Any:
    """exp(-|x|) I0(x)."""
    size = np.abs(x)
    return pieces(
        size,
        [
            (size <= EDGE, lambda s: series(s / 4 - 1, _I0_NEAR)),
            (size > EDGE, lambda s: series(16 / s - 1, _I0_FAR) / np.sqrt(s)),
        ],
    )


def i1e(x: Any) -> Any:
    """exp(-|x|) I1(x)."""
    size = np.abs(x)
    result = pieces(
        size,
        [
            (size <= EDGE, lambda s: s * series(s / 4 - 1, _I1_NEAR)),
            (size > EDGE, lambda s: series(16 / s - 1, _I1_FAR) / np.sqrt(s)),
        ],
    )
    return np.copysign(result, x)


def i0(x: Any) -> Any:
    """The modified function of the first kind, order 0; NaN at infinity."""
    return np.exp(np.abs(x)) * i0e(x)


def i1(x: Any) -> Any:
    """The modified function of the first kind, order 1; NaN at infinity."""
    return np.exp(np.abs(x)) * i1e(x)


def _k0_near(x: Any) -> Any:
    return series(x * x / 2 - 1, _K0_NEAR) - np.log(x / 2) * i0(x)


def _k1_near(x: Any) -> Any:
    return series(x * x / 2 - 1, _K1_NEAR) / x + np.log(x / 2) * i1(x)


def k0(x: Any, scaled: bool = False) -> Any:
    """The modified function of the second kind, order 0, or exp(x) times it."""
    return _second(x, _k0_near, _K0_FAR, scaled)


def k1(x: Any, scaled: bool = False) -> Any:
    """The modified function of the second kind, order 1, or exp(x) times it."""
    return _second(x, _k1_near, _K1_FAR, scaled)


def _infinite(x: Any) -> Any:
    return np.full(np.shape(x), np.inf)


def _second(x: Any, near: Any, far: Any, scaled: bool) -> Any:
    def low(s: Any) -> Any:
        return np.exp(s) * near(s) if scaled else near(s)

    def high(s: Any) -> Any:
        result = series(4 / s - 1, far) / np.sqrt(s)
        return result if scaled else np.exp(-s) * result

    return pieces(x, [(x <= 0, _infinite), ((x > 0) & (x <= 2), low), (x > 2, high)])


def _waves(x: Any, order: int) -> tuple[Any, Any, Any, Any]:
    """(scale, P, Q, phase) with J = scale * (P cos - Q sin), Y = scale * (P sin + Q cos)."""
    t = 128 / (x * x) - 1
    p, q = (_P0, _Q0) if order == 0 else (_P1, _Q1)
    phase = x - (2 * order + 1) * math.pi / 4
    return np.sqrt(2 / (math.pi * x)), series(t, p), series(t, q) / x, phase


def _first_far(order: int) -> Any:
    def value(x: Any) -> Any:
        scale, p, q, phase = _waves(x, order)
        return scale * (p * np.cos(phase) - q * np.sin(phase))

    return value


def _second_far(order: int) -> Any:
    def value(x: Any) -> Any:
        scale, p, q, phase = _waves(x, order)
        return scale * (p * np.sin(phase) + q * np.cos(phase))

    return value


def j0(x: Any) -> Any:
    """The function of the first kind, order 0; NaN at infinity."""
    size = np.abs(x)
    return pieces(
        size,
        [(size <= EDGE, lambda s: series(s * s / 32 - 1, _J0_NEAR)), (size > EDGE, _first_far(0))],
    )


def j1(x: Any) -> Any:
    """The function of the first kind, order 1; NaN at infinity."""
    size = np.abs(x)
    result = pieces(
        size,
        [
            (size <= EDGE, lambda s: s * series(s * s / 32 - 1, _J1_NEAR)),
            (size > EDGE, _first_far(1)),
        ],
    )
    return np.where(x < 0, -result, result)


def y0(x: Any) -> Any:
    """The function of the second kind, order 0; -infinity up to 0."""

    def near(s: Any) -> Any:
        return series(s * s / 32 - 1, _Y0_NEAR) + 2 / math.pi * np.log(s / 2) * j0(s)

    return _other(x, near, _second_far(0))


def y1(x: Any) -> Any:
    """The function of the second kind, order 1; -infinity up to 0."""

    def near(s: Any) -> Any:
        smooth = s * series(s * s / 32 - 1, _Y1_NEAR)
        return smooth + 2 / math.pi * (np.log(s / 2) * j1(s) - 1 / s)

    return _other(x, near, _second_far(1))


def _other(x: Any, near: Any, far: Any) -> Any:
    result = pieces(x, [((x > 0) & (x <= EDGE), near), (x > EDGE, far)])
    return np.where(x <= 0, -np.inf, result)


class Bessel(Unary):
    """y = f(x), computed in double precision."""

    T = FLOATS
    blockwise = True
    function: Any = None

    def kernel(self, x):
        with np.errstate(all="ignore"):
            return self.function(x.astype(np.float64)).astype(x.dtype)


def _over(y: Any, x: Any, at_zero: float) -> Any:
    """y / x, and its limit at 0."""
    zero = raw.Equal(x, constant(0, x))
    safe_x = raw.SelectV2(zero, constant(1, x), x)
    return raw.SelectV2(zero, constant(at_zero, x), raw.RealDiv(y, safe_x))


@op
class BesselI0(Bessel):
    """The modified Bessel function of the first kind, order 0."""

    function = staticmethod(i0)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.BesselI1(x))


@op
class BesselI0e(Bessel):
    """exp(-|x|) I0(x)."""

    function = staticmethod(i0e)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(raw.BesselI1e(x), raw.Mul(raw.Sign(x), y)))


@op
class BesselI1(Bessel):
    """The modified Bessel function of the first kind, order 1."""

    function = staticmethod(i1)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(raw.BesselI0(x), _over(y, x, 0.5)))


@op
class BesselI1e(Bessel):
    """exp(-|x|) I1(x)."""

    function = staticmethod(i1e)

    def gradient(self, dy, x, y) -> Any:
        rest = raw.AddV2(raw.Mul(raw.Sign(x), y), _over(y, x, 0.5))
        return raw.Mul(dy, raw.Sub(raw.BesselI0e(x), rest))


@op
class BesselK0(Bessel):
    """The modified Bessel function of the second kind, order 0."""

    function = staticmethod(k0)

    def gradient(self, dy, x) -> Any:
        return raw.Neg(raw.Mul(dy, raw.BesselK1(x)))


@op
class BesselK0e(Bessel):
    """exp(x) K0(x)."""

    function = staticmethod(lambda x: k0(x, True))

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(y, raw.BesselK1e(x)))


@op
class BesselK1(Bessel):
    """The modified Bessel function of the second kind, order 1."""

    function = staticmethod(k1)

    def gradient(self, dy, x, y) -> Any:
        rest = raw.AddV2(raw.BesselK0(x), raw.RealDiv(y, x))
        return raw.Neg(raw.Mul(dy, rest))


@op
class BesselK1e(Bessel):
    """exp(x) K1(x)."""

    function = staticmethod(lambda x: k1(x, True))

    def gradient(self, dy, x, y) -> Any:
        rest = raw.AddV2(raw.BesselK0e(x), raw.RealDiv(y, x))
        return raw.Mul(dy, raw.Sub(y, rest))


@op
class BesselJ0(Bessel):
    """The Bessel function of the first kind, order 0."""

    function = staticmethod(j0)

    def gradient(self, dy, x) -> Any:
        return raw.Neg(raw.Mul(dy, raw.BesselJ1(x)))


@op
class BesselJ1(Bessel):
    """The Bessel function of the first kind, order 1."""

    function = staticmethod(j1)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(raw.BesselJ0(x), _over(y, x, 0.5)))


@op
class BesselY0(Bessel):
    """The Bessel function of the second kind, order 0."""

    function = staticmethod(y0)

    def gradient(self, dy, x) -> Any:
        return raw.Neg(raw.Mul(dy, raw.BesselY1(x)))


@op
class BesselY1(Bessel):
    """The Bessel function of the second kind, order 1."""

    function = staticmethod(y1)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(raw.BesselY0(x), raw.RealDiv(y, x)))
