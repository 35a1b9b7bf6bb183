"""Samples of slices."""

from tests.ops.samples import NUMERIC, ORDINARY, each, f32, f64, i16, i32, i64, s, sample

INVALID = "InvalidArgumentError"
# begin, end, strides and masks of slices of a tensor of shape (3, 4, 5).
FORMS = (
    ([1], [3], [1], {}),
    ([0, -2], [3, 4], [2, 1], {}),
    ([2, 3, 4], [-4, -5, 0], [-1, -2, -3], {}),
    ([0, 0, 0], [0, 0, 0], [1, -1, 2], {"begin_mask": 7, "end_mask": 7}),
    ([1], [2], [1], {"shrink_axis_mask": 1}),
    ([-1, 0], [0, 1], [1, 1], {"shrink_axis_mask": 3}),
    ([0, 2], [0, 3], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
    ([0, 0, 1], [0, 0, 4], [1, 1, 2], {"new_axis_mask": 1, "ellipsis_mask": 2}),
    (
        [1, 0, 0, 2],
        [2, 0, 0, 9],
        [1, 1, 1, 1],
        {"shrink_axis_mask": 1, "new_axis_mask": 2, "ellipsis_mask": 4},
    ),
    ([5], [9], [1], {}),
    ([-9], [9], [1], {}),
    ([], [], [], {}),
)

for begin, end, strides, masks in FORMS:
    sample(
        "StridedSlice",
        input=f64(3, 4, 5),
        begin=i32(begin),
        end=i32(end),
        strides=i32(strides),
        **masks,
    )
each(
    ORDINARY, "StridedSlice", input=(3, 4), begin=i64([0, 1]), end=i64([2, 3]), strides=i64([1, 1])
)
sample(
    "StridedSlice", input=s(3), begin=i32([1]), end=i32([2]), strides=i32([1]), shrink_axis_mask=1
)
sample("StridedSlice", input=i32([4, 5, 6]), begin=i16([0]), end=i16([2]), strides=i16([1]))
for begin, masks, phrase in (
    ([4], {"shrink_axis_mask": 1}, "slice index 4 of dimension 0 out of bounds"),
    ([-4], {"shrink_axis_mask": 1}, "slice index -1 of dimension 0 out of bounds"),
    ([0, 0], {}, "Index out of range using input dim 1; input has only 1 dims"),
    ([0, 0], {"ellipsis_mask": 3}, "Multiple ellipses in slice spec not allowed"),
):
    sample(
        "StridedSlice",
        input=f32(3),
        begin=i32(begin),
        end=i32([1] * len(begin)),
        strides=i32([1] * len(begin)),
        **masks,
        error=(INVALID, phrase),
    )
sample(
    "StridedSlice",
    input=f32(3),
    begin=i32([0]),
    end=i32([1]),
    strides=i32([0]),
    error=(INVALID, "strides[0] must be non-zero"),
)
sample(
    "StridedSlice",
    input=f32(3),
    begin=i32([0]),
    end=i32([1]),
    strides=i32([-1]),
    shrink_axis_mask=1,
    error=(INVALID, "only stride 1 allowed on non-range indexing."),
)

each(
    NUMERIC,
    "StridedSliceGrad",
    shape=i32([3, 4]),
    begin=i32([0, 1]),
    end=i32([2, 4]),
    strides=i32([1, 2]),
    dy=(2, 2),
)
sample(
    "StridedSliceGrad",
    shape=i64([3, 4]),
    begin=i64([1, 0]),
    end=i64([2, 0]),
    strides=i64([1, 1]),
    dy=f64(1, 4),
    shrink_axis_mask=1,
    new_axis_mask=2,
)
sample(
    "StridedSliceGrad",
    shape=i32([3]),
    begin=i32([0]),
    end=i32([2]),
    strides=i32([1]),
    dy=f32(3),
    error=(INVALID, "shape of dy was [3] instead of [2]"),
)
each(
    ORDINARY,
    "TensorStridedSliceUpdate",
    input=(3, 4),
    begin=i32([0, 1]),
    end=i32([2, 4]),
    strides=i32([1, 2]),
    value=(2, 2),
)
sample(
    "TensorStridedSliceUpdate",
    input=f64(3, 4),
    begin=i32([1]),
    end=i32([2]),
    strides=i32([1]),
    value=f64(4),
    shrink_axis_mask=1,
)
sample(
    "TensorStridedSliceUpdate",
    input=f64(3, 4),
    begin=i32([0]),
    end=i32([2]),
    strides=i32([1]),
    value=f64(1, 4),
)

each(ORDINARY, "Slice", input=(3, 4), begin=i32([1, 0]), size=i32([2, 3]))
sample("Slice", input=f64(3, 4), begin=i64([0, 2]), size=i64([-1, -1]))
sample("Slice", input=f64(3), begin=i32([3]), size=i32([0]))
sample("Slice", input=f32(), begin=i32([]), size=i32([]))
sample(
    "Slice",
    input=f32(3),
    begin=i32([4]),
    size=i32([1]),
    error=(INVALID, "Expected begin[0] in [0, 3], but got 4"),
)
sample(
    "Slice",
    input=f32(3),
    begin=i32([1]),
    size=i32([4]),
    error=(INVALID, "Expected size[0] in [0, 2], but got 4"),
)
sample("Slice", input=f32(3, 2), begin=i32([1]), size=i32([1]), error=(INVALID, "of size 2"))
