"""How many insertions, deletions and replacements lie between sequences."""

from tests.ops.samples import each, i32, i64, s, sample

A = i64([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]])
B = i64([[0, 0], [0, 1], [2, 0], [2, 1], [2, 2], [3, 0]])

for _normalize in (True, False):
    each(
        ("int32", "float32", "string", "bool"),
        "EditDistance",
        hypothesis_indices=A,
        hypothesis_values=(6,),
        hypothesis_shape=i64([3, 3]),
        truth_indices=B,
        truth_values=(6,),
        truth_shape=i64([4, 3]),
        normalize=_normalize,
    )
sample(
    "EditDistance",
    hypothesis_indices=i64([[0, i] for i in range(6)]),
    hypothesis_values=s(list("kitten")),
    hypothesis_shape=i64([1, 6]),
    truth_indices=i64([[0, i] for i in range(7)]),
    truth_values=s(list("sitting")),
    truth_shape=i64([1, 7]),
    normalize=False,
)
sample(
    "EditDistance",
    hypothesis_indices=i64([[0]]),
    hypothesis_values=i32(1),
    hypothesis_shape=i64([2]),
    truth_indices=i64([[0]]),
    truth_values=i32(1),
    truth_shape=i64([2]),
    error=("InvalidArgumentError", "rank at least 2"),
)
