"""Samples of connectionist temporal classification."""

from tests.ops.samples import each, f32, f64, i32, i64, sample

LABELS = {
    "labels_indices": i64([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]]),
    "labels_values": i32([1, 2, 2, 3, 0, 1]),
    "sequence_length": i32([7, 4, 6]),
}
FIRST = "the loss alone: tests/ops/test_ctc.py"

each(("float32", "float64"), "CTCLoss", inputs=(7, 3, 5), **LABELS, tol=1e-5, grad=FIRST)
sample(
    "CTCLoss",
    inputs=f64(7, 3, 5),
    **LABELS,
    preprocess_collapse_repeated=True,
    tol=1e-5,
    grad=FIRST,
)
sample("CTCLoss", inputs=f64(7, 3, 5), **LABELS, ctc_merge_repeated=False, tol=1e-5, grad=FIRST)
sample(
    "CTCLoss",
    inputs=f32(2, 3, 5),
    **(LABELS | {"sequence_length": i32([2, 2, 2])}),
    error=("InvalidArgumentError", "Not enough time"),
)
sample(
    "CTCLoss",
    inputs=f64(3, 3, 5),
    **(LABELS | {"sequence_length": i32([3, 0, 1])}),
    ignore_longer_outputs_than_inputs=True,
    tol=1e-5,
    grad=FIRST,
)
sample(
    "CTCLossV2",
    inputs=f32(7, 3, 5),
    **(LABELS | {"labels_values": i32([1, 2, 2, 3, 4, 1])}),
    parity="TensorFlow has no kernel",
    grad="float32 alone",
)
for merge in (False, True):
    each(
        ("float32", "float64"),
        "CTCGreedyDecoder",
        inputs=(7, 3, 3),
        sequence_length=i32([7, 4, 6]),
        merge_repeated=merge,
        tol=1e-5,
    )
sample(
    "CTCGreedyDecoder", inputs=f32(7, 3, 3), sequence_length=i32([7, 4, 6]), blank_index=0, tol=1e-5
)
