"""Samples of batch normalisation."""

from typing import Any

from tests.ops.samples import bf16, f16, f32, f64, sample

WIDE = "TensorFlow has no float64 here"
CPU = "TensorFlow has no CPU kernel for this layout"
ONE = "only y has a gradient: tests/ops/test_batch_normalization.py"
GAIN: Any = {"wrt": ("x", "scale", "offset"), "parity": WIDE}

for version in ("", "V2", "V3"):
    name = f"FusedBatchNorm{version}"
    for kind in (f32, bf16, f16) if version == "V3" else (f32,):
        sample(
            name,
            x=kind(2, 3, 2, 3),
            scale=f32(3),
            offset=f32(3),
            mean=f32(0),
            variance=f32(0),
            epsilon=0.01,
            tol=1e-5 if kind is f32 else 0.05,
        )
    sample(
        name,
        x=f32(2, 3, 2, 3),
        scale=f32(3),
        offset=f32(3),
        mean=f32(3),
        variance=f32(3, lo=0.5, hi=2),
        epsilon=0.01,
        exponential_avg_factor=0.9,
        tol=1e-5,
    )
    sample(
        name,
        x=f64(2, 3, 2, 3),
        scale=f64(3),
        offset=f64(3),
        mean=f64(0),
        variance=f64(0),
        epsilon=0.01,
        grad=ONE,
        **GAIN,
    )
    sample(
        name,
        x=f64(2, 3, 2, 3),
        scale=f64(3),
        offset=f64(3),
        mean=f64(3),
        variance=f64(3, lo=0.5, hi=2),
        epsilon=0.01,
        is_training=False,
        **GAIN,
    )
    back = f"FusedBatchNormGrad{version}"
    third: Any = {"reserve_space_3": f32.of(0.0)} if version == "V3" else {}
    for training in (True, False):
        sample(
            back,
            y_backprop=f32(2, 3, 2, 3),
            x=f32(2, 3, 2, 3),
            scale=f32(3),
            reserve_space_1=f32(3),
            reserve_space_2=f32(3, lo=0.5, hi=2),
            **third,
            epsilon=0.01,
            is_training=training,
            tol=1e-4,
        )
    third = {"reserve_space_3": f64.of(0.0)} if version == "V3" else {}
    sample(
        back,
        y_backprop=f64(2, 3, 2, 3),
        x=f64(2, 3, 2, 3),
        scale=f64(3),
        reserve_space_1=f64(3),
        reserve_space_2=f64(3, lo=0.5, hi=2),
        **third,
        epsilon=0.01,
        is_training=False,
        wrt=("y_backprop", "x", "scale"),
        parity=WIDE,
    )
sample(
    "FusedBatchNormV3",
    x=f64(2, 3, 2, 2),
    scale=f64(3),
    offset=f64(3),
    mean=f64(0),
    variance=f64(0),
    data_format="NCHW",
    epsilon=0.01,
    grad=ONE,
    **{**GAIN, "parity": CPU},
)
sample(
    "FusedBatchNormV3",
    x=f32(2, 3),
    scale=f32(3),
    offset=f32(3),
    mean=f32(0),
    variance=f32(0),
    error=("InvalidArgumentError", "must be"),
)
