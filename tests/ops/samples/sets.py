"""Sets: the rows of tensors and sparse tensors taken as sets of values."""

from tests.ops.samples import each, i32, i64, s, sample

A = i64([[0, 0], [0, 2], [1, 1]])
B = i64([[0, 1], [1, 0], [1, 1]])
SHAPE = i64([2, 3])
INVALID = "InvalidArgumentError"
TYPES = ("int8", "int32", "int64", "uint16", "string")

for _what in ("a-b", "b-a", "intersection", "union"):
    each(TYPES, "DenseToDenseSetOperation", set1=(2, 4), set2=(2, 3), set_operation=_what)
    each(
        TYPES,
        "DenseToSparseSetOperation",
        set1=(2, 4),
        set2_indices=A,
        set2_values=(3,),
        set2_shape=SHAPE,
        set_operation=_what,
    )
    each(
        TYPES,
        "SparseToSparseSetOperation",
        set1_indices=A,
        set1_values=(3,),
        set1_shape=SHAPE,
        set2_indices=B,
        set2_values=(3,),
        set2_shape=i64([2, 7]),
        set_operation=_what,
    )
    sample("DenseToDenseSetOperation", set1=i32(2, 1, 3), set2=i32(2, 1, 4), set_operation=_what)
sample("DenseToDenseSetOperation", set1=i32([[1, 2]]), set2=i32([[2, 1]]), set_operation="a-b")
sample(
    "DenseToDenseSetOperation",
    set1=i32(2, 3),
    set2=i32(1, 3),
    set_operation="a-b",
    error=(INVALID, "Mismatched shapes [2] vs [1]"),
    graph="shapes are refused earlier",
)
sample(
    "DenseToDenseSetOperation",
    set1=i32(2, 3),
    set2=i32(2, 3),
    set_operation="c",
    error=(INVALID, "Invalid set_operation c."),
)
sample(
    "SparseToSparseSetOperation",
    set1_indices=i64([[1, 1], [0, 0], [0, 1]]),
    set1_values=i32(3),
    set1_shape=SHAPE,
    set2_indices=A,
    set2_values=i32(3),
    set2_shape=SHAPE,
    set_operation="a-b",
    error=(INVALID, "out of order"),
)
sample("SetSize", set_indices=A, set_values=i32([1, 1, 2]), set_shape=i64([3, 4]))
sample("SetSize", set_indices=A, set_values=s(["a", "b", "b"]), set_shape=SHAPE)
sample(
    "SetSize",
    set_indices=A,
    set_values=i32(3),
    set_shape=i64([1, 1]),
    error=(INVALID, "out of bounds"),
)
