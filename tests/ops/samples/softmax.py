"""Samples of softmax and the cross entropies."""

from tests.ops.samples import FLOATING, f32, f64, i32, i64, of, sample, sums

sums(FLOATING, "Softmax", logits=(3, 5))
sample("Softmax", logits=f64(2, 3, 4), tol=1e-6)
sample("Softmax", logits=f64(4), tol=1e-6)
sample("Softmax", logits=f32([[1000.0, 1001.0], [-1000.0, 0.0]]), tol=1e-6)
sample("Softmax", logits=f32(0, 3))
sample(
    "Softmax",
    logits=f32(),
    error=("InvalidArgumentError", "logits must have >= 1 dimension, got []"),
)
sums(FLOATING, "LogSoftmax", logits=(3, 5))
sample("LogSoftmax", logits=f64(2, 3, 4), tol=1e-12)
sample("LogSoftmax", logits=f32([[1000.0, 1001.0], [-1000.0, 0.0]]), tol=1e-6)

# Labels are probabilities: `backprop` is the gradient for rows that sum to 1 only.
ONE_ROW = [[0.1, 0.2, 0.3, 0.4]]
ROWS = [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [0.25, 0.25, 0.5, 0.0]]
SOFT = "SoftmaxCrossEntropyWithLogits"
sums(FLOATING, SOFT, features=(3, 4), labels=of(ROWS), wrt=("features",))
sample(SOFT, features=f64(3, 4), labels=f64(ROWS), tol=1e-12)
sample(SOFT, features=f64(3, 4), labels=f64(ONE_ROW), tol=1e-12)
sample(SOFT, features=f64(1, 4), labels=f64(ROWS), tol=1e-12)
sample(SOFT, features=f32([[1000.0, 0.0]]), labels=f32([[1.0, 0.0]]), tol=1e-6)
sample(
    SOFT,
    features=f32(3, 4),
    labels=f32(2, 4),
    error=(
        "InvalidArgumentError",
        "logits and labels must be broadcastable: logits_size=[3,4] labels_size=[2,4]",
    ),
)
sample(
    SOFT,
    features=f32(3),
    labels=f32(3),
    error=("InvalidArgumentError", "must be either 2-dimensional"),
)

SPARSE = "SparseSoftmaxCrossEntropyWithLogits"
sums(FLOATING, SPARSE, features=(3, 5), labels=i64([1, 4, 0]))
sample(SPARSE, features=f64(3, 4), labels=i32([1, 3, 0]), tol=1e-12)
sample(SPARSE, features=f32(0, 4), labels=i32([]))
sample(
    SPARSE,
    features=f32(3, 3),
    labels=i32([5, 1, -1]),
    error=(
        "InvalidArgumentError",
        "Received a label value of -1 which is outside the valid range of [0, 3).  Label values: 5 1 -1",
    ),
)
sample(
    SPARSE,
    features=f32(3, 3),
    labels=i32([5, 1]),
    error=(
        "InvalidArgumentError",
        "logits and labels must have the same first dimension, got logits shape [3,3] and labels shape [2]",
    ),
)
sample(
    SPARSE,
    features=f32(3),
    labels=i32([1]),
    error=("InvalidArgumentError", "logits must be 2-D, but got shape [3]"),
)
sample(
    SPARSE,
    features=f32(1, 3),
    labels=i32([[1]]),
    error=("InvalidArgumentError", "labels must be 1-D, but got shape [1,1]"),
)
