"""Recurrent layers: RNN, GRU and LSTM, one loop for each direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    like,
    shape,
    tensor,
    transpose,
)
from intaglio.opdef import raw
from intaglio.trace import choices
from intaglio.type_specs.tensor_array import TensorArray

Activation = Callable[[Any], Any]


def _activation(name: str, alpha: float | None, beta: float | None) -> Activation:
    """An activation by its name in ONNX."""
    a, b = alpha, beta
    table: dict[str, Activation] = {
        "relu": raw.Relu,
        "tanh": raw.Tanh,
        "sigmoid": raw.Sigmoid,
        "softsign": raw.Softsign,
        "softplus": raw.Softplus,
        "elu": lambda x: raw.SelectV2(
            raw.Less(x, like(0, x)), raw.Mul(raw.Expm1(x), like(1.0 if a is None else a, x)), x
        ),
        "leakyrelu": lambda x: raw.SelectV2(
            raw.Less(x, like(0, x)), raw.Mul(x, like(0.01 if a is None else a, x)), x
        ),
        "affine": lambda x: raw.AddV2(raw.Mul(x, like(a or 1.0, x)), like(b or 0.0, x)),
        "hardsigmoid": lambda x: raw.Minimum(
            raw.Maximum(
                raw.AddV2(
                    raw.Mul(x, like(0.2 if a is None else a, x)), like(0.5 if b is None else b, x)
                ),
                like(0, x),
            ),
            like(1, x),
        ),
    }
    found = table.get(name.lower())
    if found is None:
        raise ModelError(f"the activation {name!r}")
    return found


class _Layer:
    """A layer's attributes and weights, and the loop over time."""

    def __init__(self, c: Any, gates: int, defaults: Sequence[str]) -> None:
        self.c, self.gates = c, gates
        self.hidden = c.attr("hidden_size")
        self.clip = c.attr("clip")
        direction = c.attr("direction", "forward")
        self.backwards = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}[direction]
        names = c.attr("activations") or [*defaults] * len(self.backwards)
        alphas, betas = c.attr("activation_alpha") or [], c.attr("activation_beta") or []
        self.activations = [
            _activation(n, _entry(alphas, i), _entry(betas, i)) for i, n in enumerate(names)
        ]
        self.last = c.attr("layout", 0)

    def functions(self, number: int) -> Sequence[Activation]:
        """The activations of a direction."""
        each = len(self.activations) // len(self.backwards)
        return self.activations[number * each : (number + 1) * each]

    def clipped(self, x: Any) -> Any:
        """Numbers within the threshold."""
        if self.clip is None:
            return x
        return raw.Minimum(raw.Maximum(x, like(-self.clip, x)), like(self.clip, x))

    def run(
        self,
        x: Any,
        lengths: Any,
        states: Sequence[Any],
        step: Callable[[int, Any, Sequence[Any]], Sequence[Any]],
    ) -> tuple[Any, ...]:
        """All outputs, and the last states: `step` gets the direction, a time step and the states."""
        x = tensor(x)
        if self.last:
            x = transpose(x, [1, 0, 2])
            states = [None if s is None else transpose(tensor(s), [1, 0, 2]) for s in states]
        batch = shape(x)[1]
        rows, ends = [], []
        for number, backwards in enumerate(self.backwards):
            start = [
                raw.Fill(raw.Pack([batch, np.int64(self.hidden)]), like(0, x))
                if s is None
                else tensor(s)[number]
                for s in states
            ]
            found = _over_time(x, lengths, backwards, start, lambda v, s, n=number: step(n, v, s))
            rows.append(found[0])
            ends.append(found[1:])
        outputs = raw.Pack(rows, axis=1)
        last = [raw.Pack(list(column), axis=0) for column in zip(*ends, strict=True)]
        if self.last:
            return transpose(outputs, [2, 0, 1, 3]), *[transpose(v, [1, 0, 2]) for v in last]
        return outputs, *last


def _entry(values: Sequence[float], number: int) -> float | None:
    return values[number] if number < len(values) else None


def _over_time(
    x: Any,
    lengths: Any,
    backwards: int,
    start: Sequence[Any],
    step: Callable[[Any, Sequence[Any]], Sequence[Any]],
) -> list[Any]:
    """The first state of each time step, then the last states; rows behind their length stay."""
    if backwards:
        ones: dict[str, Any] = {"seq_dim": 0, "batch_dim": 1}
        x = (
            raw.ReverseV2(x, np.array([0]))
            if lengths is None
            else raw.ReverseSequence(x, lengths, **ones)
        )
    count = raw.Shape(x)[0]
    form = [dims(start[0])[0], dims(start[0])[1]]
    rows = TensorArray(x.dtype, size=count, element_shape=form)

    def body(i: Any, rows: Any, *states: Any) -> Any:
        found = [*step(raw.GatherV2(x, i, 0), states)]
        output = found[0]
        if lengths is not None:
            inside = raw.ExpandDims(raw.Less(i, cast(lengths, dtypes.int32)), 1)
            output = raw.SelectV2(inside, output, raw.ZerosLike(output))
            found = [raw.SelectV2(inside, n, o) for n, o in zip(found, states, strict=True)]
        return [raw.AddV2(i, np.int32(1)), rows.write(i, output), *found]

    loop = choices.while_loop(
        lambda i, *_: raw.Less(i, count), body, [tensor(np.int32(0)), rows, *start]
    )
    outputs = loop[1].stack()
    if backwards:
        ones: dict[str, Any] = {"seq_dim": 0, "batch_dim": 1}
        outputs = (
            raw.ReverseV2(outputs, np.array([0]))
            if lengths is None
            else raw.ReverseSequence(outputs, lengths, **ones)
        )
    return [outputs, *loop[2:]]


def _bias(b: Any, number: int, parts: int) -> list[Any]:
    """The biases of all gates: of the inputs, then of the states; None if there are none."""
    if b is None:
        return [None] * parts
    return list(raw.Split(0, tensor(b)[number], num_split=parts))


def _linear(x: Any, w: Any, *biases: Any) -> Any:
    found = raw.MatMul(x, w, transpose_b=True)
    for b in biases:
        found = found if b is None else raw.AddV2(found, b)
    return found


@operator("RNN")
def _rnn(c, x, w, r, b=None, lengths=None, start=None) -> Any:
    layer = _Layer(c, 1, ["Tanh"])

    def step(n: int, v: Any, states: Sequence[Any]) -> Any:
        (f,) = layer.functions(n)
        total = raw.AddV2(
            _linear(v, tensor(w)[n], *_bias(b, n, 2)), _linear(states[0], tensor(r)[n])
        )
        return [f(layer.clipped(total))]

    return layer.run(x, lengths, [start], step)


@operator("GRU")
def _gru(c, x, w, r, b=None, lengths=None, start=None) -> Any:
    layer = _Layer(c, 3, ["Sigmoid", "Tanh"])
    before = c.attr("linear_before_reset", 0)

    def step(n: int, v: Any, states: Sequence[Any]) -> Any:
        f, g = layer.functions(n)
        (h,) = states
        own = raw.Split(0, tensor(w)[n], num_split=3)
        rec = raw.Split(0, tensor(r)[n], num_split=3)
        bias = _bias(b, n, 6)
        update, reset = (
            f(
                layer.clipped(
                    raw.AddV2(_linear(v, own[i], bias[i]), _linear(h, rec[i], bias[3 + i]))
                )
            )
            for i in (0, 1)
        )
        if before:
            inner = raw.Mul(reset, _linear(h, rec[2], bias[5]))
        else:
            inner = _linear(raw.Mul(reset, h), rec[2], bias[5])
        new = g(layer.clipped(raw.AddV2(_linear(v, own[2], bias[2]), inner)))
        one = like(1, update)
        return [raw.AddV2(raw.Mul(raw.Sub(one, update), new), raw.Mul(update, h))]

    return layer.run(x, lengths, [start], step)


@operator("LSTM")
def _lstm(c, x, w, r, b=None, lengths=None, start=None, cell=None, peepholes=None) -> Any:
    layer = _Layer(c, 4, ["Sigmoid", "Tanh", "Tanh"])
    coupled = c.attr("input_forget", 0)

    def step(n: int, v: Any, states: Sequence[Any]) -> Any:
        f, g, last = layer.functions(n)
        h, old = states
        bias = _bias(b, n, 2)
        total = raw.AddV2(_linear(v, tensor(w)[n], *bias), _linear(h, tensor(r)[n]))
        i, o, forget, new = raw.Split(1, total, num_split=4)
        peep = [None] * 3 if peepholes is None else raw.Split(0, tensor(peepholes)[n], num_split=3)
        i = f(layer.clipped(_peeped(i, peep[0], old)))
        one = like(1, i)
        forget = raw.Sub(one, i) if coupled else f(layer.clipped(_peeped(forget, peep[2], old)))
        state = raw.AddV2(raw.Mul(forget, old), raw.Mul(i, g(layer.clipped(new))))
        o = f(layer.clipped(_peeped(o, peep[1], state)))
        return [raw.Mul(o, last(state)), state]

    return layer.run(x, lengths, [start, cell], step)


def _peeped(gate: Any, weight: Any, state: Any) -> Any:
    return gate if weight is None else raw.AddV2(gate, raw.Mul(weight, state))
