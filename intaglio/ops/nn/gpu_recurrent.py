"""Recurrent layers as one op of cuDNN, which TensorFlow has for GPUs only.

Keras 2 traces a function with such an op beside the one for the host, and so does
`snt.UnrolledLSTM`: graphs can have them, be differentiated and saved. On the host they raise the
error that TensorFlow raises.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import bfloat16, float16, float32, float64, int8
from intaglio.base.errors import ShapeError
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import no_kernel

_MODES = (
    'rnn_mode: str = "lstm", input_mode: str = "linear_input", direction: str = "unidirectional", '
    "dropout: float = 0.0, seed: int = 0, seed2: int = 0"
)
_INPUTS = "input: T, input_h: T, input_c: T, params: T"
_LENGTHS = f"{_INPUTS}, sequence_lengths: int32"
_OUTPUTS = "output: T, output_h: T, output_c: T"
_RESULTS = f"{_OUTPUTS}, output_backprop: T, output_h_backprop: T, output_c_backprop: T"
_BACK = "input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T"


class GpuRecurrent(Op):
    """Steps of a recurrent layer in the first dimension, examples in the second; weights are in `params`."""

    T = (bfloat16, float16, float32, float64)
    rnn_mode = ("rnn_relu", "rnn_tanh", "lstm", "gru")
    input_mode = ("linear_input", "skip_input", "auto_select")
    direction = ("unidirectional", "bidirectional")
    stateful = True

    def kernel(self, input, **attrs):
        raise no_kernel(self.name, input.dtype)


class GpuRecurrentForward(GpuRecurrent):
    """Outputs of all steps, the last states, and the reserved space for the gradient."""

    def infer(
        self, input: Spec, input_h: Spec, input_c: Spec, params: Spec, rnn_mode, direction, **attrs
    ) -> Any:
        return [
            *self.outputs_of(input, input_h, input_c, params, rnn_mode, direction),
            Spec(int8, None),
        ]

    def outputs_of(self, input, input_h, input_c, params, rnn_mode, direction) -> list[Spec]:
        """The results without the reserved space in host memory."""
        for spec, rank in ((input, 3), (input_h, 3), (params, 1)):
            if spec.shape is not None and len(spec.shape) != rank:
                raise ShapeError(f"Shape must be rank {rank} but is rank {len(spec.shape)}")
        steps = input.shape or (None, None, None)
        states = input_h.shape or (None, None, None)
        units = states[2]
        if units is not None and direction == "bidirectional":
            units *= 2
        return [
            Spec(input.dtype, (steps[0], steps[1], units)),
            Spec(input.dtype, states),
            Spec(input.dtype, self.last_cell(input_c, states) if rnn_mode == "lstm" else ()),
            Spec(input.dtype, None),
        ]

    def last_cell(self, input_c: Spec, states: Any) -> Any:
        """The shape of the last cell state of an LSTM."""
        return states


class GpuRecurrentBackward(GpuRecurrent):
    """The gradients of the inputs."""

    def infer(self, input: Spec, input_h: Spec, input_c: Spec, params: Spec, **attrs) -> Any:
        return [Spec(s.dtype, s.shape) for s in (input, input_h, input_c, params)]


@op
class CudnnRNN(GpuRecurrentForward):
    signature = f"{_INPUTS}; {_MODES}, is_training: bool = True -> {_OUTPUTS}, reserve_space: T"

    def infer(
        self, input: Spec, input_h: Spec, input_c: Spec, params: Spec, rnn_mode, direction, **attrs
    ) -> Any:
        return self.outputs_of(input, input_h, input_c, params, rnn_mode, direction)

    def gradient(self, doutput, doutput_h, doutput_c, input, input_h, input_c, params, output, output_h, output_c, reserve_space, is_training, **attrs):  # fmt: skip
        results = (output, output_h, output_c, doutput, doutput_h, doutput_c, reserve_space)
        return raw.CudnnRNNBackprop(input, input_h, input_c, params, *results, **attrs)


@op
class CudnnRNNV2(GpuRecurrentForward):
    signature = f"{_INPUTS}; {_MODES}, is_training: bool = True -> {_OUTPUTS}, reserve_space: T, host_reserved: int8"

    def gradient(self, doutput, doutput_h, doutput_c, input, input_h, input_c, params, output, output_h, output_c, reserve_space, host_reserved, is_training, **attrs):  # fmt: skip
        results = (output, output_h, output_c, doutput, doutput_h, doutput_c, reserve_space)
        return raw.CudnnRNNBackpropV2(
            input, input_h, input_c, params, *results, host_reserved, **attrs
        )


@op
class CudnnRNNV3(GpuRecurrentForward):
    """Examples have lengths of their own; `time_major=False` has them in the first dimension."""

    signature = (
        f"{_LENGTHS}; {_MODES}, num_proj: int = 0, is_training: bool = True, time_major: bool = True "
        f"-> {_OUTPUTS}, reserve_space: T, host_reserved: int8"
    )

    def last_cell(self, input_c: Spec, states: Any) -> Any:
        return input_c.shape

    def gradient(self, doutput, doutput_h, doutput_c, input, input_h, input_c, params, sequence_lengths, output, output_h, output_c, reserve_space, host_reserved, is_training, **attrs):  # fmt: skip
        results = (output, output_h, output_c, doutput, doutput_h, doutput_c, reserve_space)
        found = raw.CudnnRNNBackpropV3(
            input, input_h, input_c, params, sequence_lengths, *results, host_reserved, **attrs
        )
        return (*found, None)


@op
class CudnnRNNBackprop(GpuRecurrentBackward):
    signature = f"{_INPUTS}, {_RESULTS}, reserve_space: T; {_MODES} -> {_BACK}"


@op
class CudnnRNNBackpropV2(GpuRecurrentBackward):
    signature = f"{_INPUTS}, {_RESULTS}, reserve_space: T, host_reserved: int8; {_MODES} -> {_BACK}"


@op
class CudnnRNNBackpropV3(GpuRecurrentBackward):
    signature = (
        f"{_LENGTHS}, {_RESULTS}, reserve_space: T, host_reserved: int8; {_MODES}, num_proj: int = 0, "
        f"time_major: bool = True -> {_BACK}"
    )
