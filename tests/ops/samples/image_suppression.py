"""Samples of non-maximum suppression."""

import numpy as np

from tests.ops.samples import f16, f32, i32, sample

rng = np.random.RandomState(3)
CORNERS = rng.uniform(0, 1, (40, 2))
BOXES = np.concatenate([CORNERS, CORNERS + rng.uniform(-0.2, 0.5, (40, 2))], axis=1)
SCORES = rng.permutation(40) / 40 + 0.01
PLAIN = {"boxes": f32(BOXES), "scores": f32(SCORES)}

for limit in (0, 5, 100):
    size = {"max_output_size": i32.of(limit)}
    for share in (0.0, 0.3, 1.0):
        sample("NonMaxSuppression", **PLAIN, **size, iou_threshold=share)
        sample("NonMaxSuppressionV2", **PLAIN, **size, iou_threshold=f32.of(share))
        for least in (-np.inf, 0.4):
            limits = {"iou_threshold": f32.of(share), "score_threshold": f32.of(least)}
            sample("NonMaxSuppressionV3", **PLAIN, **size, **limits)
            for pad in (False, True):
                sample("NonMaxSuppressionV4", **PLAIN, **size, **limits, pad_to_max_output_size=pad)
            for sigma in (0.0, 0.5):
                sample(
                    "NonMaxSuppressionV5",
                    **PLAIN,
                    **size,
                    **limits,
                    soft_nms_sigma=f32.of(sigma),
                    pad_to_max_output_size=share == 0.3,
                    tol=1e-6,
                )
TIES = {"boxes": f32(BOXES[:6]), "scores": f32([1, 2, 2, 1, 3, 2])}
LIMITS = {"max_output_size": i32.of(4), "iou_threshold": f32.of(0.5), "score_threshold": f32.of(1)}
sample("NonMaxSuppressionV3", **TIES, **LIMITS)
sample("NonMaxSuppressionV3", boxes=f32(0, 4), scores=f32(0), **LIMITS)
sample("NonMaxSuppressionV3", boxes=f16(BOXES), scores=f16(SCORES), **LIMITS)
sample(
    "NonMaxSuppressionV2",
    boxes=f16(BOXES),
    scores=f16(SCORES),
    max_output_size=i32.of(9),
    iou_threshold=f16.of(0.25),
)
for change, message in (
    ({"max_output_size": i32.of(-1)}, "output size must be non-negative"),
    ({"iou_threshold": f32.of(1.5)}, "iou_threshold must be in [0, 1]"),
    ({"boxes": f32(6, 3)}, "boxes must have 4 columns"),
    ({"scores": f32(5)}, "scores has incompatible shape"),
    ({"max_output_size": i32([2])}, "max_output_size must be 0-D, got shape [1]"),
):
    for op in ("NonMaxSuppressionV3", "NonMaxSuppressionV4"):
        sample(op, **{**TIES, **LIMITS, **change}, error=("InvalidArgumentError", message))
sample(
    "NonMaxSuppressionV5",
    **TIES,
    **LIMITS,
    soft_nms_sigma=f32.of(-1),
    error=("InvalidArgumentError", "soft_nms_sigma_val must be >= 0"),
)

MATRIX = rng.uniform(0, 1, (12, 12))
for limit, share, least in ((5, 0.5, -1), (12, 0.9, 0.3), (3, 0.0, 0.0)):
    sample(
        "NonMaxSuppressionWithOverlaps",
        overlaps=f32(MATRIX),
        scores=f32(SCORES[:12]),
        max_output_size=i32.of(limit),
        overlap_threshold=f32.of(share),
        score_threshold=f32.of(least),
    )
sample(
    "NonMaxSuppressionWithOverlaps",
    overlaps=f32(2, 3),
    scores=f32(2),
    max_output_size=i32.of(1),
    overlap_threshold=f32.of(0.5),
    score_threshold=f32.of(0),
    error=("InvalidArgumentError", "overlaps must be square"),
)

CLASSES = f32(rng.permutation(72).reshape(2, 12, 3) / 72)
ONE, OWN = f32(BOXES[:24].reshape(2, 12, 1, 4)), f32(rng.uniform(-0.2, 1.2, (2, 12, 3, 4)))
for boxes in (ONE, OWN):
    for each_, total in ((3, 5), (5, 40), (1, 2)):
        for pad in (False, True):
            sample(
                "CombinedNonMaxSuppression",
                boxes=boxes,
                scores=CLASSES,
                max_output_size_per_class=i32.of(each_),
                max_total_size=i32.of(total),
                iou_threshold=f32.of(0.3),
                score_threshold=f32.of(0.2),
                pad_per_class=pad,
                clip_boxes=not pad,
            )
ALL = {
    "boxes": ONE,
    "scores": CLASSES,
    "max_output_size_per_class": i32.of(3),
    "max_total_size": i32.of(5),
    "iou_threshold": f32.of(0.3),
    "score_threshold": f32.of(0.2),
}
for change, message in (
    ({"max_output_size_per_class": i32.of(0)}, "max_size_per_class must be positive"),
    ({"max_total_size": i32.of(0)}, "max_total_size must be > 0"),
    ({"boxes": f32(2, 12, 2, 4)}, "third dimension of boxes must be either 1 or num classes"),
    ({"iou_threshold": f32.of(2)}, "iou_threshold must be in [0, 1]"),
):
    sample(
        "CombinedNonMaxSuppression", **{**ALL, **change}, error=("InvalidArgumentError", message)
    )
