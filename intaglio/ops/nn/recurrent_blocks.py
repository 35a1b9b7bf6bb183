"""Recurrent cells and layers as one op each: LSTMBlockCell, BlockLSTM and GRUBlockCell.

Follows https://www.tensorflow.org/api_docs/python/tf/raw_ops/BlockLSTM and its neighbours.
TensorFlow 1 wrote them into graphs (`LSTMBlockFusedCell`), which are still loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float16, float32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

_WEIGHTS = "w: T, wci: T, wcf: T, wco: T, b: T"
_STATE = "cs_prev: T, h_prev: T"
_GATES = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_CLIPPED = "cell_clip: float = 3, use_peephole: bool = False"
# The order of the gates in the columns of the weights: the earlier ops and `BlockLSTMV2` differ.
_ICFO = ("i", "ci", "f", "o")
_IFCO = ("i", "f", "ci", "o")


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _gates_of(columns: Any, order: tuple[str, ...]) -> dict[str, Any]:
    return dict(zip(order, np.split(columns, 4, axis=-1), strict=True))


def _cell(
    x: Any, cs_prev: Any, h_prev: Any, weights: Any, order: tuple[str, ...], rules: Any
) -> tuple[Any, ...]:
    """One step of an LSTM: the gates, the cell, and the output, in the order of the op's results."""
    w, wci, wcf, wco, b = weights
    forget_bias, cell_clip, use_peephole = rules
    gates = _gates_of(np.concatenate([x, h_prev], axis=1) @ w + b, order)
    forget = gates["f"] + x.dtype.type(forget_bias)
    peep = use_peephole
    i = _sigmoid(gates["i"] + cs_prev * wci if peep else gates["i"])
    f = _sigmoid(forget + cs_prev * wcf if peep else forget)
    ci = np.tanh(gates["ci"])
    cs = ci * i + cs_prev * f
    if cell_clip > 0:
        cs = np.clip(cs, x.dtype.type(-cell_clip), x.dtype.type(cell_clip))
    o = _sigmoid(gates["o"] + cs * wco if peep else gates["o"])
    co = np.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def _cell_gradient(
    cs_prev, gates, wci, wcf, wco, cs_grad, h_grad, order, use_peephole
) -> tuple[Any, Any, dict[str, Any]]:
    """The gradients of a step: of the previous cell, of the weights' columns, and of each gate."""
    i, _, f, o, ci, co = gates
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs = dcs + do * wco
    by_gate = {
        "i": i * (1 - i) * dcs * ci,
        "ci": (1 - ci * ci) * dcs * i,
        "f": f * (1 - f) * dcs * cs_prev,
        "o": do,
    }
    before = dcs * f
    if use_peephole:
        before = before + by_gate["i"] * wci + by_gate["f"] * wcf
    return before, np.concatenate([by_gate[name] for name in order], axis=-1), by_gate


def _units(cs_prev: Spec, rank: int = 2) -> Any:
    if cs_prev.rank not in (None, rank):
        raise ShapeError(f"Shape must be rank {rank} but is rank {cs_prev.rank}")
    return (cs_prev.shape or (None,) * rank)[-1]


def _check_shapes(*expected: tuple[str, Any, tuple[int, ...]]) -> None:
    """Raises InvalidArgumentError if an input, of (name, array, shape), has another shape."""
    for name, array, shape in expected:
        if array.shape != shape:
            raise invalid_argument(f"{name}.shape must be {shape}, got {array.shape}")


def _check_rank(name: str, array: Any, rank: int) -> None:
    if array.ndim != rank:
        raise invalid_argument(f"Rank of {name} must be {rank}, got {array.ndim}")


def _check_cell(x: Any, cs_prev: Any, h_prev: Any, w: Any, b: Any) -> None:
    rows, width = x.shape[-2:]
    _check_rank("cs_prev", cs_prev, 2)
    units = cs_prev.shape[1]
    _check_shapes(
        ("cs_prev", cs_prev, (rows, units)),
        ("h_prev", h_prev, (rows, units)),
        ("w", w, (width + units, 4 * units)),
        ("b", b, (4 * units,)),
    )


def _check_peepholes(units: int, wci: Any, wcf: Any, wco: Any, used: bool = True) -> None:
    """Raises InvalidArgumentError for what is no vector and, if they are used, for other lengths."""
    for name, weights in (("wci", wci), ("wcf", wcf), ("wco", wco)):
        _check_rank(name, weights, 1)
        if used:
            _check_shapes((name, weights, (units,)))


class Recurrent(Op):
    """An op of recurrent cells."""

    T = (float16, float32)


@op
class LSTMBlockCell(Recurrent):
    """One step of an LSTM with its gates."""

    signature = f"x: T, {_STATE}, {_WEIGHTS}; forget_bias: float = 1, {_CLIPPED} -> {_GATES}"

    def infer(self, x: Spec, cs_prev: Spec) -> Any:
        return [Spec(x.dtype, ((x.shape or (None,))[0], _units(cs_prev)))] * 7

    def kernel(self, x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole):
        _check_rank("x", x, 2)
        _check_cell(x, cs_prev, h_prev, w, b)
        _check_peepholes(cs_prev.shape[1], wci, wcf, wco, use_peephole)
        rules = (forget_bias, cell_clip, use_peephole)
        return _cell(x, cs_prev, h_prev, (w, wci, wcf, wco, b), _ICFO, rules)


@op
class LSTMBlockCellGrad(Recurrent):
    """The gradients of LSTMBlockCell with respect to the previous cell, the gates and the peepholes."""

    signature = (
        f"x: T, {_STATE}, {_WEIGHTS}, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T;"
        " use_peephole: bool -> cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T"
    )

    def infer(self, x: Spec, cs_prev: Spec, wci: Spec, wcf: Spec, wco: Spec) -> Any:
        units = _units(cs_prev)
        gates = (cs_prev.shape or (None,))[0], None if units is None else 4 * units
        return [cs_prev, Spec(x.dtype, gates), *(Spec(x.dtype, p.shape) for p in (wci, wcf, wco))]

    def kernel(
        self, x, cs_prev, h_prev, w, wci, wcf, wco, b,
        i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole,
    ):  # fmt: skip
        _check_rank("x", x, 2)
        _check_cell(x, cs_prev, h_prev, w, b)
        _check_peepholes(cs_prev.shape[1], wci, wcf, wco, use_peephole)
        names = ("i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad")
        gates = (i, cs, f, o, ci, co, cs_grad, h_grad)
        _check_shapes(*[(n, g, cs_prev.shape) for n, g in zip(names, gates, strict=True)])
        before, columns, by_gate = _cell_gradient(
            cs_prev, (i, cs, f, o, ci, co), wci, wcf, wco, cs_grad, h_grad, _ICFO, use_peephole
        )
        if not use_peephole:
            return before, columns, np.zeros_like(wci), np.zeros_like(wcf), np.zeros_like(wco)
        peepholes = (by_gate["i"] * cs_prev, by_gate["f"] * cs_prev, by_gate["o"] * cs)
        return before, columns, *(p.sum(axis=0) for p in peepholes)


def _check_layer(seq_len_max: Any, x: Any) -> None:
    if x.ndim != 3:
        raise invalid_argument(f"x must be 3D, got {x.ndim} dimensions")
    if seq_len_max > len(x):
        raise invalid_argument(f"seq_len_max must be at most {len(x)}, got {seq_len_max}")


class Layer(Recurrent):
    """An LSTM over the steps in the first dimension of x."""

    order: tuple[str, ...] = _IFCO

    def infer(self, x: Spec, cs_prev: Spec) -> Any:
        if x.rank not in (None, 3):
            raise ShapeError(f"Shape must be rank 3 but is rank {x.rank}")
        steps, rows, _ = x.shape or (None,) * 3
        return [Spec(x.dtype, (steps, rows, _units(cs_prev)))] * 7

    def steps(self, seq_len_max, x, cs, h, weights, rules) -> tuple[Any, ...]:
        """The gates of all steps; those from `seq_len_max` on are 0."""
        w, *peepholes, b = weights
        _check_layer(seq_len_max, x)
        _check_cell(x, cs, h, w, b)
        _check_peepholes(cs.shape[1], *peepholes)
        results = np.zeros((7, *x.shape[:2], cs.shape[1]), x.dtype)
        for step in range(int(seq_len_max)):
            gates = _cell(x[step], cs, h, weights, self.order, rules)
            results[:, step] = gates
            cs, h = gates[1], gates[6]
        return tuple(results)


_LAYER = f"seq_len_max: int64, x: T, {_STATE}, {_WEIGHTS}"


@op
class BlockLSTM(Layer):
    """An LSTM whose weights' columns are those of the gates i, ci, f and o."""

    signature = f"{_LAYER}; forget_bias: float = 1, {_CLIPPED} -> {_GATES}"
    order = _ICFO

    def kernel(
        self, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b,
        forget_bias, cell_clip, use_peephole,
    ):  # fmt: skip
        rules = (forget_bias, cell_clip, use_peephole)
        return self.steps(seq_len_max, x, cs_prev, h_prev, (w, wci, wcf, wco, b), rules)

    def gradient(
        self, dcs, dh, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b,
        i, cs, f, o, ci, co, h, use_peephole,
    ):  # fmt: skip
        inputs = (seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
        gates = (i, cs, f, o, ci, co, h)
        return [None, *raw.BlockLSTMGrad(*inputs, *gates, dcs, dh, use_peephole=use_peephole)]


@op
class BlockLSTMV2(Layer):
    """An LSTM whose weights' columns are those of the gates i, f, ci and o."""

    signature = f"{_LAYER}; cell_clip: float = 0, use_peephole: bool = False -> {_GATES}"

    def kernel(self, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, cell_clip, use_peephole):
        rules = (0.0, cell_clip, use_peephole)
        return self.steps(seq_len_max, x, cs_prev, h_prev, (w, wci, wcf, wco, b), rules)

    def gradient(
        self, dcs, dh, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b,
        i, cs, f, o, ci, co, h, use_peephole,
    ):  # fmt: skip
        inputs = (seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b)
        gates = (i, cs, f, o, ci, co, h)
        return [None, *raw.BlockLSTMGradV2(*inputs, *gates, dcs, dh, use_peephole=use_peephole)]


class LayerGradient(Recurrent):
    """The gradients of a layer with respect to all of its inputs but the number of steps."""

    signature = (
        f"{_LAYER}, {_GATES}, cs_grad: T, h_grad: T; use_peephole: bool -> x_grad: T,"
        " cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T,"
        " b_grad: T"
    )
    order: tuple[str, ...] = _IFCO

    def infer(
        self,
        x: Spec,
        cs_prev: Spec,
        h_prev: Spec,
        w: Spec,
        wci: Spec,
        wcf: Spec,
        wco: Spec,
        b: Spec,
    ) -> Any:
        return [Spec(x.dtype, s.shape) for s in (x, cs_prev, h_prev, w, wci, wcf, wco, b)]

    def kernel(
        self, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b,
        i, cs, f, o, ci, co, h, cs_grad, h_grad, use_peephole,
    ):  # fmt: skip
        _check_layer(seq_len_max, x)
        _check_cell(x, cs_prev, h_prev, w, b)
        _check_peepholes(cs_prev.shape[1], wci, wcf, wco)
        names = ("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad")
        results = (i, cs, f, o, ci, co, h, cs_grad, h_grad)
        shape = (len(x), *cs_prev.shape)
        _check_shapes(*[(n, r, shape) for n, r in zip(names, results, strict=True)])
        dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b)
        peepholes = [np.zeros_like(p) for p in (wci, wcf, wco)]
        dcs, dh = np.zeros_like(cs_prev), np.zeros_like(h_prev)
        for step in reversed(range(int(seq_len_max))):
            before = (cs[step - 1], h[step - 1]) if step else (cs_prev, h_prev)
            gates = tuple(g[step] for g in (i, cs, f, o, ci, co))
            dcs, columns, by_gate = _cell_gradient(
                before[0], gates, wci, wcf, wco, cs_grad[step] + dcs, h_grad[step] + dh,
                self.order, use_peephole,
            )  # fmt: skip
            xh = np.concatenate([x[step], before[1]], axis=1)
            dxh = columns @ w.T
            dx[step], dh = dxh[:, : x.shape[2]], dxh[:, x.shape[2] :]
            dw += xh.T @ columns
            db += columns.sum(axis=0)
            if use_peephole:
                states = (before[0], before[0], cs[step])
                for total, name, state in zip(peepholes, ("i", "f", "o"), states, strict=True):
                    total += (by_gate[name] * state).sum(axis=0)
        return dx, dcs, dh, dw, *peepholes, db


@op
class BlockLSTMGrad(LayerGradient):
    """The gradients of BlockLSTM."""

    order = _ICFO


@op
class BlockLSTMGradV2(LayerGradient):
    """The gradients of BlockLSTMV2."""


_GRU = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T"


def _check_gru(x: Any, h_prev: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any) -> None:
    _check_rank("x", x, 2)
    _check_rank("h_prev", h_prev, 2)
    rows, width = x.shape
    units = h_prev.shape[1]
    _check_shapes(
        ("h_prev", h_prev, (rows, units)),
        ("w_ru", w_ru, (width + units, 2 * units)),
        ("w_c", w_c, (width + units, units)),
        ("b_ru", b_ru, (2 * units,)),
        ("b_c", b_c, (units,)),
    )


@op
class GRUBlockCell(Recurrent):
    """One step of a gated recurrent unit with its gates."""

    T = (float32,)
    signature = f"{_GRU} -> r: T, u: T, c: T, h: T"

    def infer(self, x: Spec, h_prev: Spec) -> Any:
        return [Spec(x.dtype, ((x.shape or (None,))[0], _units(h_prev)))] * 4

    def kernel(self, x, h_prev, w_ru, w_c, b_ru, b_c):
        _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
        gates = _sigmoid(np.concatenate([x, h_prev], axis=1) @ w_ru + b_ru)
        r, u = np.split(gates, 2, axis=1)
        c = np.tanh(np.concatenate([x, h_prev * r], axis=1) @ w_c + b_c)
        return r, u, c, u * h_prev + (1 - u) * c


@op
class GRUBlockCellGrad(Recurrent):
    """The gradients of GRUBlockCell with respect to its states and the biases of its gates."""

    T = (float32,)
    signature = (
        f"{_GRU}, r: T, u: T, c: T, d_h: T -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T"
    )

    def infer(self, x: Spec, h_prev: Spec) -> Any:
        units = _units(h_prev)
        rows = (x.shape or (None,))[0]
        twice = None if units is None else 2 * units
        return [x, h_prev, Spec(x.dtype, (rows, units)), Spec(x.dtype, (rows, twice))]

    def kernel(self, x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
        _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
        states = zip(("r", "u", "c", "d_h"), (r, u, c, d_h), strict=True)
        _check_shapes(*[(name, state, h_prev.shape) for name, state in states])
        width = x.shape[1]
        d_c_bar = d_h * (1 - u) * (1 - c * c)
        d_candidate = d_c_bar @ w_c.T
        d_reset = d_candidate[:, width:]
        d_u_bar = d_h * (h_prev - c) * u * (1 - u)
        d_r_bar = d_reset * h_prev * r * (1 - r)
        d_gates = np.concatenate([d_r_bar, d_u_bar], axis=1)
        d_both = d_gates @ w_ru.T
        d_x = d_both[:, :width] + d_candidate[:, :width]
        return d_x, d_both[:, width:] + d_reset * r + d_h * u, d_c_bar, d_gates
