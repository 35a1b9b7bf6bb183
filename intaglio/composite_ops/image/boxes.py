"""Boxes in images: drawn, sampled, and chosen among those that overlap.

Follows https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression and its
neighbours. A box is (y1, x1, y2, x2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, int32
from intaglio.composite_ops.array import lengths
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import random_state
from intaglio.trace.choices import while_loop

ANY = float("-inf")


@dispatchable
def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Tensor:
    """A batch of images with the borders of boxes [n, boxes, 4], of 0 to 1, drawn.

    `colors` [colors, channels] are used cyclically; None means ten default colours.

    >>> image = tf.zeros([1, 3, 3, 1])
    >>> tf.image.draw_bounding_boxes(image, [[[0, 0, 1, 1]]], [[1.0]]).numpy()[0, :, :, 0]
    array([[1., 1., 1.],
           [1., 0., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    if colors is None:
        return raw.DrawBoundingBoxes(images, boxes, name=name)
    return raw.DrawBoundingBoxesV2(images, boxes, colors, name=name)


# -- suppression -----------------------------------------------------------------------


@dispatchable
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = ANY,
    name: str | None = None,
) -> Tensor:
    """The indices of boxes [n, 4] with the best scores, without those that overlap better ones.

    Boxes overlap whose intersection is more than `iou_threshold` of their union.

    Boxes with a score of `score_threshold` or less are left out.

    >>> boxes = [[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]
    >>> tf.image.non_max_suppression(boxes, [0.8, 0.9, 0.7], 3).numpy()
    array([1, 2], dtype=int32)
    """
    return raw.NonMaxSuppressionV3(
        boxes, scores, max_output_size, iou_threshold, score_threshold, name=name
    )


@dispatchable
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = ANY,
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The indices and scores of the boxes chosen; with `soft_nms_sigma` overlaps cost score.

    Boxes overlap whose intersection is more than `iou_threshold` of their union. Boxes with a score
    of `score_threshold` or less are left out.

    >>> boxes = [[0, 0, 1, 1], [0, 0, 1, 0.9]]
    >>> tf.image.non_max_suppression_with_scores(boxes, [0.8, 0.9], 2)[1].numpy()
    array([0.9], dtype=float32)
    """
    kept, values, _ = raw.NonMaxSuppressionV5(
        boxes,
        scores,
        max_output_size,
        iou_threshold,
        score_threshold,
        soft_nms_sigma,
        pad_to_max_output_size=False,
        name=name,
    )
    return kept, values


@dispatchable
def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = ANY,
    name: str | None = None,
) -> Tensor:
    """`non_max_suppression` by a matrix [n, n] of the boxes' pairwise overlaps.

    Boxes overlap whose entry is more than `overlap_threshold`. Boxes with a score of
    `score_threshold` or less are left out.

    >>> tf.image.non_max_suppression_overlaps([[1, 0.9], [0.9, 1]], [0.5, 0.7], 2).numpy()
    array([1], dtype=int32)
    """
    return raw.NonMaxSuppressionWithOverlaps(
        overlaps, scores, max_output_size, overlap_threshold, score_threshold, name=name
    )


@dispatchable
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = ANY,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """Suppression in each class, then the best of all: boxes, scores, classes, counts.

    `boxes` are [batch, n, 1 or classes, 4], `scores` [batch, n, classes].

    Boxes overlap whose intersection is more than `iou_threshold` of their union. Boxes with a score
    of `score_threshold` or less are left out. With `pad_per_class` the result has
    `max_output_size_per_class` entries for each class, at most `max_total_size`. `clip_boxes` limits
    coordinates to [0, 1].

    >>> boxes = [[[[0, 0, 1, 1]], [[0, 0, 1, 0.9]]]]
    >>> found = tf.image.combined_non_max_suppression(boxes, [[[0.8], [0.9]]], 2, 2)
    >>> found.nmsed_scores.numpy(), found.valid_detections.numpy()
    (array([[0.9, 0. ]], dtype=float32), array([1], dtype=int32))
    """
    return raw.CombinedNonMaxSuppression(
        boxes,
        scores,
        max_output_size_per_class,
        max_total_size,
        iou_threshold,
        score_threshold,
        pad_per_class=pad_per_class,
        clip_boxes=clip_boxes,
        name=name,
    )


@dispatchable
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = ANY,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """`non_max_suppression` of boxes [..., n, 4] of batches: indices, and how many count.

    With `pad_to_max_output_size`, which batches need, there are `max_output_size` indices,
    zeros after the last. `sorted_input`, `canonicalized_coordinates` and `tile_size` are
    promises that would make it faster elsewhere. Raises ValueError.

    Boxes with a score of `score_threshold` or less are left out.

    >>> boxes = [[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]]
    >>> kept, count = tf.image.non_max_suppression_padded(
    ...     boxes, [[0.8, 0.9, 0.7]], 3, pad_to_max_output_size=True)
    >>> kept.numpy(), count.numpy()
    (array([[1, 2, 0]], dtype=int32), array([2], dtype=int32))
    """
    with door.level().scoped(name or "non_max_suppression_padded"):
        coordinates, values = (to_tensor(boxes, None, "boxes"), to_tensor(scores, None, "scores"))
        if coordinates.dims is not None and len(coordinates.dims) == 2:
            kept, count = raw.NonMaxSuppressionV4(
                coordinates,
                values,
                max_output_size,
                iou_threshold,
                score_threshold,
                pad_to_max_output_size=pad_to_max_output_size,
            )
            return kept, count
        if not pad_to_max_output_size:
            raise ValueError(
                "'pad_to_max_output_size' (value False) must be True for batched input"
            )
        return _batched(coordinates, values, max_output_size, iou_threshold, score_threshold)


def _batched(
    boxes: Tensor, scores: Tensor, limit: Any, threshold: Any, least: Any
) -> tuple[Tensor, Tensor]:
    """All batches side by side: one iteration of the loop selects the best box of each."""
    lead = lengths.leading(scores, 1)
    count = lengths.of_axis(scores, -1)
    values = raw.Reshape(scores, lengths.vector([-1, count]))
    corners = raw.Reshape(boxes, lengths.vector([-1, count, 4]))
    size = lengths.length(limit, "max_output_size")
    share = raw.Cast(to_tensor(threshold), DstT=boxes.dtype)
    lowest = raw.Cast(to_tensor(least), DstT=scores.dtype)
    dead = np.asarray(-np.inf, scores.dtype.numpy)
    first = raw.Minimum(corners[..., :2], corners[..., 2:])
    last = raw.Maximum(corners[..., :2], corners[..., 2:])
    area = raw.Prod(last - first, [-1])
    none = raw.Cast(values[:, :1] * 0, DstT=int32)
    chosen = raw.Tile(none, lengths.vector([1, size]))
    columns = raw.ExpandDims(raw.Range(np.int32(0), size, np.int32(1)), 0)

    def more(step: Tensor, live: Any, *_: Any) -> Tensor:
        some = raw.Reshape(raw.Greater(live, dead), [-1])
        return raw.LogicalAnd(raw.Less(step, size), raw.Any(some, [0]))

    def select(step: Tensor, live: Tensor, kept: Tensor, found: Tensor) -> Any:
        best = raw.ArgMax(live, -1, output_type=int32)
        there = raw.Greater(raw.Max(live, [-1]), dead)
        mark = raw.OneHot(best, count, True, False)

        def own(x: Tensor) -> Tensor:
            return raw.ExpandDims(raw.GatherV2(x, best, 1, batch_dims=1), 1)

        inner = raw.Minimum(last, own(last)) - raw.Maximum(first, own(first))
        shared = raw.Prod(raw.Maximum(inner, np.asarray(0, boxes.dtype.numpy)), [-1])
        overlap = raw.DivNoNan(shared, area + own(area) - shared)
        suppressed = raw.LogicalOr(raw.Greater(overlap, share), mark)
        here = raw.LogicalAnd(raw.Equal(columns, step), raw.ExpandDims(there, 1))
        kept = raw.SelectV2(here, raw.ExpandDims(best, 1), kept)
        return (
            step + 1,
            raw.SelectV2(suppressed, dead, live),
            kept,
            found + raw.Cast(there, DstT=int32),
        )

    live = raw.SelectV2(raw.Greater(values, lowest), values, dead)
    start = (to_tensor(np.int32(0)), live, chosen, raw.Squeeze(none, axis=[1]))
    _, _, kept, found = while_loop(more, select, start)
    shape = [size]
    return lengths.reshaped(kept, lead, shape), raw.Reshape(found, lead)


@dispatchable
def generate_bounding_box_proposals(
    scores: Any,
    bbox_deltas: Any,
    image_info: Any,
    anchors: Any,
    nms_threshold: Any = 0.7,
    pre_nms_topn: int = 6000,
    min_size: int = 16,
    post_nms_topn: int = 300,
    name: str | None = None,
) -> Any:
    """Proposals of regions from anchors: raises NotImplementedError.

    >>> tf.image.generate_bounding_box_proposals(0, 0, 0, 0)
    Traceback (most recent call last):
    ...
    NotImplementedError: TensorFlow has this op for GPUs only. Decode the anchors with tf.math and choose with tf.image.non_max_suppression.
    """
    raise NotImplementedError(
        "TensorFlow has this op for GPUs only. Decode the anchors with tf.math and choose "
        "with tf.image.non_max_suppression."
    )


# -- samples ---------------------------------------------------------------------------


def _plan(ratios: Any, areas: Any, attempts: Any, use_image: Any) -> dict[str, Any]:
    return {
        "aspect_ratio_range": [0.75, 1.33] if ratios is None else list(ratios),
        "area_range": [0.05, 1.0] if areas is None else list(areas),
        "max_attempts": 100 if attempts is None else attempts,
        "use_image_if_no_bounding_boxes": bool(use_image),
    }


@dispatchable
def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """A random crop that covers enough of a box: `begin` and `size` for tf.slice, `bboxes`.

    Aspect ratio and area (as a part of the image's) are within ranges. If no crop is found
    in `max_attempts` it is the whole image.

    A crop covers at least `min_object_covered` of a box; `aspect_ratio_range` and `area_range`
    bound its shape. `max_attempts` bounds the attempts; without boxes `use_image_if_no_bounding_boxes`
    allows the whole image, else it is an error.

    >>> crop = tf.image.sample_distorted_bounding_box([9, 9, 3], [[[0, 0, 1, 1]]], seed=1)
    >>> crop.size.shape, crop.bboxes.shape
    (TensorShape([3]), TensorShape([1, 1, 4]))
    """
    first, second = random_state.op_seeds(seed) if seed else (0, 0)
    return raw.SampleDistortedBoundingBoxV2(
        image_size,
        bounding_boxes,
        to_tensor(min_object_covered, float32),
        seed=first,
        seed2=second,
        **_plan(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
        name=name,
    )


@dispatchable
def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """`sample_distorted_bounding_box` that depends on the seed (two integers) alone.

    A crop covers at least `min_object_covered` of a box; `aspect_ratio_range` and `area_range`
    bound its shape. `max_attempts` bounds the attempts; without boxes `use_image_if_no_bounding_boxes`
    allows the whole image, else it is an error.

    >>> crop = tf.image.stateless_sample_distorted_bounding_box(
    ...     [90, 90, 3], [[[0, 0, 1, 1]]], seed=(1, 2))
    >>> crop.size.numpy()
    array([76, 69, -1], dtype=int32)
    """
    return raw.StatelessSampleDistortedBoundingBox(
        image_size,
        bounding_boxes,
        to_tensor(min_object_covered, float32),
        seed,
        **_plan(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
        name=name,
    )


__all__ = [
    "combined_non_max_suppression",
    "draw_bounding_boxes",
    "generate_bounding_box_proposals",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_padded",
    "non_max_suppression_with_scores",
    "sample_distorted_bounding_box",
    "stateless_sample_distorted_bounding_box",
]
