"""Samples of random crops that cover boxes."""

from tests.ops.samples import each, f32, i32, i64, sample

BOXES = f32([[[0.1, 0.2, 0.7, 0.9], [0.0, 0.5, 0.3, 0.6]]])
SIZE = i32([60, 90, 3])
BOTH = ("SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox")
PLANS = (
    {},
    {"aspect_ratio_range": [0.5, 2.0], "area_range": [0.3, 1.0]},
    {"area_range": [0.9, 1.0], "max_attempts": 7},
    {"aspect_ratio_range": [3.0, 4.0], "area_range": [0.01, 0.2]},
)
for seed in range(6):
    for plan in PLANS:
        for covered in (0.0, 0.1, 0.9):
            share = {"min_object_covered": f32.of(covered)}
            sample(
                BOTH[0],
                image_size=SIZE,
                bounding_boxes=BOXES,
                **share,
                seed=seed + 1,
                seed2=7,
                **plan,
            )
            sample(
                BOTH[1], image_size=SIZE, bounding_boxes=BOXES, **share, seed=i32([seed, 7]), **plan
            )
sample("SampleDistortedBoundingBox", image_size=SIZE, bounding_boxes=BOXES, seed=5)
NONE = f32(1, 0, 4)
sample(
    BOTH[1],
    image_size=SIZE,
    bounding_boxes=NONE,
    min_object_covered=f32.of(0.5),
    seed=i64([1, 2]),
    use_image_if_no_bounding_boxes=True,
)
each(
    ("uint8", "int8", "int16", "int32", "int64"),
    BOTH[1],
    image_size=(3,),
    domain=(30, 60),
    bounding_boxes=BOXES,
    min_object_covered=f32.of(0.1),
    seed=i64([1, 2]),
)
GIVEN = {"image_size": SIZE, "bounding_boxes": BOXES, "min_object_covered": f32.of(0.1)}
for change, message in (
    ({"bounding_boxes": NONE}, "No bounding boxes provided as input."),
    ({"image_size": i32([60, 90])}, "image_size must contain 3 elements[2]"),
    ({"bounding_boxes": f32(2, 4)}, "input boxes must be 3-dimensional [batch, num_boxes, coords]"),
    (
        {"bounding_boxes": f32([[[0, 0, 2, 1]]])},
        "All bounding box coordinates must be in [0.0, 1.0]: 2",
    ),
    ({"min_object_covered": f32.of(-0.1)}, "Min object covered must be non-negative: -0.1"),
    ({"area_range": [0.5, 1.5]}, "Area range must be less then or equal to 1.0"),
    ({"aspect_ratio_range": [1.0]}, "Aspect ratio range field must specify 2 dimensions"),
    ({"max_attempts": 0}, "Max attempts must be non-negative: 0"),
):
    sample(BOTH[0], **{**GIVEN, **change}, seed=1, error=("InvalidArgumentError", message))
