"""Samples of boxes drawn into images."""

from tests.ops.samples import each, f32, sample

BOXES = f32(
    [
        [[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.6], [-0.5, 0.5, 0.5, 1.5], [2, 2, 3, 3]],
        [[0.5, 0.5, 0.5, 0.5], [0.9, 0.1, 0.2, 0.8], [0.1, 0.1, 0.8, 0.95], [-0.4, -0.4, 1.2, 1.2]],
    ]
)
COLORS = f32([[1, 0.5, 0.25], [0, 0.75, 1], [0.1, 0.2, 0.3]])
for depth in (1, 3, 4):
    each(("float16", "float32"), "DrawBoundingBoxes", images=(2, 7, 9, depth), boxes=BOXES)
sample("DrawBoundingBoxes", images=f32(1, 5, 5, 3), boxes=f32(1, 0, 4))
sample("DrawBoundingBoxes", images=f32(1, 9, 9, 3), boxes=f32(1, 25, 4, lo=0, hi=1))
each(("float16", "float32"), "DrawBoundingBoxesV2", images=(2, 7, 9, 3), boxes=BOXES, colors=COLORS)
sample("DrawBoundingBoxesV2", images=f32(2, 7, 9, 1), boxes=BOXES, colors=COLORS)
for op in ("DrawBoundingBoxes", "DrawBoundingBoxesV2"):
    paint = {} if op == "DrawBoundingBoxes" else {"colors": COLORS}
    sample(
        op,
        images=f32(7, 9, 3),
        boxes=BOXES,
        **paint,
        error=("InvalidArgumentError", "The rank of the images should be 4"),
    )
    sample(
        op,
        images=f32(2, 7, 9, 2),
        boxes=BOXES,
        **paint,
        error=(
            "InvalidArgumentError",
            "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)",
        ),
    )
    sample(
        op,
        images=f32(2, 7, 9, 3),
        boxes=f32(2, 4),
        **paint,
        error=("InvalidArgumentError", "The rank of the boxes tensor should be 3"),
    )
sample(
    "DrawBoundingBoxesV2",
    images=f32(2, 7, 9, 4),
    boxes=BOXES,
    colors=COLORS,
    error=(
        "InvalidArgumentError",
        "colors must have equal or more channels than the image provided: ",
    ),
)
