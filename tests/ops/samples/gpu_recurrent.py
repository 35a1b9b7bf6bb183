"""Samples of recurrent layers as one op, which run on GPUs only; `tests/ops/test_gpu_recurrent.py` has their graphs."""

from tests.ops.samples import f32, i8, i32, sample

NONE = ("NotFoundError", "Could not find device")
GIVEN = {
    "input": f32(3, 2, 4),
    "input_h": f32(1, 2, 5),
    "input_c": f32(1, 2, 5),
    "params": f32(220),
}
MADE = {
    "output": f32(3, 2, 5),
    "output_h": f32(1, 2, 5),
    "output_c": f32(1, 2, 5),
    "output_backprop": f32(3, 2, 5),
    "output_h_backprop": f32(1, 2, 5),
    "output_c_backprop": f32(1, 2, 5),
    "reserve_space": f32(7),
}

sample("CudnnRNN", **GIVEN, grad="runs on GPUs only", error=NONE)
sample(
    "CudnnRNN",
    **GIVEN,
    rnn_mode="gru",
    direction="bidirectional",
    grad="runs on GPUs only",
    error=NONE,
)
sample("CudnnRNNV2", **GIVEN, grad="runs on GPUs only", error=NONE)
sample("CudnnRNNV3", **GIVEN, sequence_lengths=i32([3, 2]), grad="runs on GPUs only", error=NONE)
sample("CudnnRNNBackprop", **GIVEN, **MADE, grad="runs on GPUs only", error=NONE)
sample(
    "CudnnRNNBackpropV2",
    **GIVEN,
    **MADE,
    host_reserved=i8([1]),
    grad="runs on GPUs only",
    error=NONE,
)
sample(
    "CudnnRNNBackpropV3",
    **GIVEN,
    sequence_lengths=i32([3, 2]),
    **MADE,
    host_reserved=i8([1]),
    grad="runs on GPUs only",
    error=NONE,
)
