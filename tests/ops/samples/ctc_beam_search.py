"""Samples of decoding by beam search."""

from tests.ops.samples import each, f32, i32, sample

STEPS = {"sequence_length": i32([7, 4, 0])}

for width, paths, merge in ((1, 1, False), (3, 2, False), (3, 2, True)):
    each(
        ("float32", "float64"),
        "CTCBeamSearchDecoder",
        inputs=(7, 3, 4),
        sequence_length=i32([7, 4, 3]),
        beam_width=width,
        top_paths=paths,
        merge_repeated=merge,
        tol=1e-5,
    )
sample("CTCBeamSearchDecoder", inputs=f32(7, 3, 4), **STEPS, beam_width=100, top_paths=1, tol=1e-5)
# More classes than may come into the beams, and many steps.
sample(
    "CTCBeamSearchDecoder",
    inputs=f32(20, 2, 40, lo=-4, hi=4),
    sequence_length=i32([20, 13]),
    beam_width=5,
    top_paths=5,
    merge_repeated=False,
    tol=1e-5,
)
# All labels are equally likely: of equal ones the first count.
sample(
    "CTCBeamSearchDecoder",
    inputs=f32([[[0.0, 0.0, 0.0]]] * 3),
    sequence_length=i32([3]),
    beam_width=4,
    top_paths=4,
    tol=1e-5,
)
# What is impossible stays where there is nothing else.
sample(
    "CTCBeamSearchDecoder",
    inputs=f32([[[0.0, float("-inf"), float("-inf")]]] * 3),
    sequence_length=i32([3]),
    beam_width=2,
    top_paths=2,
    tol=1e-5,
)

WRONG = {"beam_width": 4, "top_paths": 2}
sample(
    "CTCBeamSearchDecoder",
    inputs=f32(3, 2, 3),
    sequence_length=i32([3, 0]),
    **WRONG,
    error=("InvalidArgumentError", "Less leaves in the beam search than requested"),
)
sample(
    "CTCBeamSearchDecoder",
    inputs=f32(3, 1, 3),
    sequence_length=i32([3]),
    beam_width=1,
    top_paths=2,
    error=("InvalidArgumentError", "requested more paths than the beam width"),
)
sample(
    "CTCBeamSearchDecoder",
    inputs=f32(3, 1, 3),
    sequence_length=i32([4]),
    **WRONG,
    error=("FailedPreconditionError", "sequence_length"),
)
sample(
    "CTCBeamSearchDecoder",
    inputs=f32(3, 1, 3),
    sequence_length=i32([3, 3]),
    **WRONG,
    error=("FailedPreconditionError", "batch_size"),
)
sample(
    "CTCBeamSearchDecoder",
    inputs=f32(3, 0, 3),
    sequence_length=i32(0),
    **WRONG,
    error=("InvalidArgumentError", "inputs must not be empty"),
)
