"""Updates of training: operators of the domain ai.onnx.preview.training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.export.onnx.loading.registry import TRAINING, operator
from intaglio.export.onnx.loading.values import cast, element, like, tensor
from intaglio.opdef import raw


def _updated(c: Any, kinds: int, values: Any, one: Callable[..., list[Any]]) -> tuple[Any, ...]:
    """`one` for each tensor: its value, gradient and states; the results by kind."""
    count = len(values) // kinds
    columns = [one(*[tensor(values[k * count + i]) for k in range(kinds)]) for i in range(count)]
    return tuple([columns[i][k] for k in range(kinds - 1) for i in range(count)])


def _decayed(c: Any, x: Any, g: Any) -> Any:
    return raw.AddV2(raw.Mul(like(c.attr("norm_coefficient", 0.0), x), x), g)


@operator("Momentum", domain=TRAINING)
def _momentum(c, rate, count, *values) -> Any:
    alpha, beta = c.attr("alpha"), c.attr("beta")
    first = raw.Equal(count, np.int64(0))

    def one(x: Any, g: Any, v: Any) -> list[Any]:
        g = _decayed(c, x, g)
        share = raw.SelectV2(first, like(1.0, x), like(beta, x))
        new = raw.AddV2(raw.Mul(like(alpha, x), v), raw.Mul(share, g))
        step = new
        if c.attr("mode", "standard") == "nesterov":
            step = raw.AddV2(g, raw.Mul(like(alpha, x), new))
        return [raw.Sub(x, raw.Mul(cast(rate, element(x)), step)), new]

    return _updated(c, 3, values, one)


@operator("Adagrad", domain=TRAINING)
def _adagrad(c, rate, count, *values) -> Any:
    decay = np.float32(c.attr("decay_factor", 0.0))

    def one(x: Any, g: Any, h: Any) -> list[Any]:
        steps = raw.AddV2(np.float32(1), raw.Mul(cast(count, np.float32), decay))
        r = raw.RealDiv(cast(rate, element(x)), cast(steps, element(x)))
        g = _decayed(c, x, g)
        new = raw.AddV2(h, raw.Square(g))
        root = raw.AddV2(raw.Sqrt(new), like(c.attr("epsilon", 0.0), x))
        return [raw.Sub(x, raw.RealDiv(raw.Mul(r, g), root)), new]

    return _updated(c, 3, values, one)


@operator("Adam", domain=TRAINING)
def _adam(c, rate, count, *values) -> Any:
    alpha, beta = c.attr("alpha", 0.9), c.attr("beta", 0.999)

    def one(x: Any, g: Any, v: Any, h: Any) -> list[Any]:
        g = _decayed(c, x, g)
        v_new = raw.AddV2(raw.Mul(like(alpha, x), v), raw.Mul(like(1 - alpha, x), g))
        h_new = raw.AddV2(raw.Mul(like(beta, x), h), raw.Mul(like(1 - beta, x), raw.Square(g)))
        t = cast(count, element(x))
        ones = like(1, x)
        ratio = raw.RealDiv(
            raw.Sqrt(raw.Sub(ones, raw.Pow(like(beta, x), t))),
            raw.Sub(ones, raw.Pow(like(alpha, x), t)),
        )
        r = cast(rate, element(x))
        adjusted = raw.SelectV2(raw.Greater(t, like(0, x)), raw.Mul(r, ratio), r)
        root = raw.AddV2(raw.Sqrt(h_new), like(c.attr("epsilon", 1e-6), x))
        new = raw.Sub(x, raw.RealDiv(raw.Mul(adjusted, v_new), root))
        after = raw.Sub(ones, like(c.attr("norm_coefficient_post", 0.0), x))
        return [raw.Mul(new, after), v_new, h_new]

    return _updated(c, 4, values, one)
