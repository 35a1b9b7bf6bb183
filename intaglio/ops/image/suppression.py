"""Non-maximum suppression: of boxes that overlap, those with the best scores.

All batches and classes go side by side ("lanes"): one step selects the best box of each lane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import float16, float32, int32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.image.suppression_loops import suppress_rows
from intaglio.ops.restricted import run_loops

# Similarity of each lane's box at an index to all boxes of the lane: [lanes, boxes].
Similarity = Callable[[np.ndarray], np.ndarray]


# Candidates that one set of boxes is searched by.
BLOCK = 96


class Corners(NamedTuple):
    """Boxes with their corners in order, and their areas."""

    top: np.ndarray
    left: np.ndarray
    bottom: np.ndarray
    right: np.ndarray
    area: np.ndarray

    def at(self, index: Any) -> Corners:
        """Some of the boxes."""
        return Corners(*[part[index] for part in self])


def corners_of(boxes: np.ndarray) -> Corners:
    """Boxes [..., 4] whose corners may be in any order."""
    one, two, three, four = np.moveaxis(boxes, -1, 0)
    top, bottom = np.minimum(one, three), np.maximum(one, three)
    left, right = np.minimum(two, four), np.maximum(two, four)
    return Corners(top, left, bottom, right, (bottom - top) * (right - left))


def shares(a: Corners, b: Corners) -> np.ndarray:
    """Intersection over union of boxes that broadcast; 0 for boxes without area."""
    zero = a.area.dtype.type(0)
    height = np.minimum(a.bottom, b.bottom) - np.maximum(a.top, b.top)
    width = np.minimum(a.right, b.right) - np.maximum(a.left, b.left)
    shared = np.maximum(height, zero) * np.maximum(width, zero)
    union = a.area + b.area - shared
    real = (a.area > 0) & (b.area > 0)
    return np.where(real, shared / np.where(real, union, 1), zero)


def overlaps_of(boxes: np.ndarray) -> Similarity:
    """Intersection over union within boxes [lanes, boxes, 4]."""
    corners, lanes = corners_of(boxes), np.arange(len(boxes))[:, None]
    return lambda at: shares(corners, corners.at((lanes, at[:, None])))


def suppress_one(
    boxes: np.ndarray, scores: np.ndarray, limit: int, threshold: Any, least: Any
) -> np.ndarray:
    """`suppress` of one set of boxes: candidates in the order of their scores, in blocks.

    Each block is compared with what is selected, and then within itself.
    """
    machine = _machine_suppressed(
        boxes[None, :, None], scores[None, :, None], limit, threshold, least
    )
    if machine is not None:
        indices, counts = machine
        return indices[0, : counts[0]]
    wanted = np.flatnonzero(scores > least)
    order = wanted[np.argsort(-scores[wanted], kind="stable")]
    corners, chosen = corners_of(boxes), np.zeros(0, np.intp)
    for start in range(0, len(order), BLOCK):
        if len(chosen) >= limit:
            break
        block = order[start : start + BLOCK]
        here = corners.at(block)
        lying = here.at(np.s_[:, None])
        open_ = (shares(lying, corners.at(chosen)) <= threshold).all(axis=1)
        apart = shares(lying, here) <= threshold
        found: list[int] = []
        next_box = 0
        while len(chosen) + len(found) < limit:
            ahead = open_[next_box:]
            step = int(ahead.argmax()) if len(ahead) else 0
            if not len(ahead) or not ahead[step]:
                break
            next_box += step
            found.append(next_box)
            open_ &= apart[next_box]
            next_box += 1
        chosen = np.concatenate([chosen, block[found]])
    return chosen.astype(np.int32)


# Multiplications that a box costs NumPy.
WORK_PER_BOX = 200


def _machine_suppressed(
    boxes: np.ndarray, scores: np.ndarray, limit: int, threshold: Any, least: Any
) -> tuple[np.ndarray, np.ndarray] | None:
    """The selected indices [batch * classes, limit] and their numbers, if machine code finds them.

    Boxes are [batch, boxes, 1 or classes, 4] of float32, scores [batch, boxes, classes].
    """
    batch, size, kinds, _ = boxes.shape
    classes = scores.shape[2]
    rows, limit = batch * classes, min(limit, size)
    if not boxes.dtype == scores.dtype == np.float32:
        return None
    chosen, counts = np.zeros((rows, limit), np.int32), np.zeros(rows, np.int32)
    heaps = np.empty(rows * size, np.int32)
    dims = (size, classes, kinds, limit, float(threshold), float(least))
    arrays = map(np.ascontiguousarray, (boxes, scores))
    work = WORK_PER_BOX * rows * size
    done = run_loops(suppress_rows, work, chosen, counts, heaps, *arrays, *dims, rows=rows)
    return (chosen, counts) if done else None


def suppress(
    similarity: Similarity,
    scores: np.ndarray,
    limit: int,
    threshold: Any,
    least: Any,
    sigma: Any = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The selected indices and scores [lanes, limit], 0 where there are no more, and counts.

    Scores must be above `least`. With `sigma`, boxes lose score to those selected (soft
    suppression) instead of going only when they overlap by more than `threshold`.
    """
    lanes, boxes = scores.shape
    limit = min(limit, boxes)
    indices = np.zeros((lanes, limit), np.int32)
    values = np.zeros((lanes, limit), scores.dtype)
    counts = np.zeros(lanes, np.int32)
    live, every = scores.copy(), np.arange(lanes)
    open_ = live > least
    scale = np.float32(-0.5) / np.float32(sigma) if sigma > 0 else np.float32(0)
    for step in range(limit):
        best = np.where(open_, live, -np.inf).argmax(axis=1)
        # All scores may be -inf where any is allowed: then the first open one.
        found = open_[every, best]
        if not found.any():
            break
        indices[found, step] = best[found]
        values[found, step] = live[every, best][found]
        counts += found
        shared = similarity(best)
        open_[every, best] = False
        if sigma > 0:
            weight = np.exp(scale * shared * shared).astype(scores.dtype)
            live = np.where(found[:, None], live * weight, live)
            open_ &= live > least
        else:
            open_ &= (shared <= threshold) | ~found[:, None]
    return indices, values, counts


# -- checks ----------------------------------------------------------------------------


def _check_scores(boxes: Any, scores: Any) -> None:
    if boxes.ndim != 2:
        raise invalid_argument(f"boxes must be 2-D{list(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid_argument("boxes must have 4 columns")
    if scores.shape != boxes.shape[:1]:
        raise invalid_argument(
            f"scores has incompatible shape {list(scores.shape)} for {len(boxes)} boxes"
        )


def _scalar(value: Any, name: str) -> Any:
    if np.ndim(value):
        raise invalid_argument(f"{name} must be 0-D, got shape {list(np.shape(value))}")
    return np.asarray(value)[()]


def _limit(value: Any) -> int:
    limit = int(_scalar(value, "max_output_size"))
    if limit < 0:
        raise invalid_argument("output size must be non-negative")
    return limit


def _share(value: Any, name: str = "iou_threshold") -> Any:
    share = _scalar(value, name)
    if not 0 <= share <= 1:
        raise invalid_argument(f"{name} must be in [0, 1]")
    return share


def _infer_checks(boxes: Spec, scores: Spec) -> None:
    if boxes.rank not in (None, 2):
        raise ShapeError(f"Shape must be rank 2 but is rank {boxes.rank}")
    if boxes.shape is not None and boxes.shape[1] not in (None, 4):
        raise ShapeError(
            f"Dimension must be 4 but is {boxes.shape[1]}",
            f"boxes must have 4 columns (Dimension must be 4 but is {boxes.shape[1]})",
        )
    if scores.rank not in (None, 1):
        raise ShapeError(f"Shape must be rank 1 but is rank {scores.rank}")


def _padded(x: np.ndarray, limit: int) -> np.ndarray:
    result = np.zeros(limit, x.dtype)
    result[: len(x)] = x
    return result


def _selected(
    boxes: Any, scores: Any, limit: Any, threshold: Any, least: Any, sigma: Any = 0
) -> tuple[np.ndarray, np.ndarray, int]:
    _check_scores(boxes, scores)
    count = _limit(limit)
    threshold = _share(threshold)
    least = _scalar(least, "score_threshold")
    if not sigma > 0:
        chosen = suppress_one(boxes, scores, count, threshold, least)
        return chosen, scores[chosen], len(chosen)
    indices, values, counts = suppress(
        overlaps_of(boxes[None]), scores[None], count, threshold, least, sigma
    )
    found = int(counts[0])
    return indices[0, :found], values[0, :found], found


# -- one set of boxes ------------------------------------------------------------------


class Suppression(Op):
    """The indices of the boxes that are kept, best score first."""

    T = (float16, float32)
    T_threshold = (float16, float32)
    differentiable = False


class Unpadded(Suppression):
    """As many indices as there are."""

    def infer(self, boxes: Spec, scores: Spec) -> Spec:
        _infer_checks(boxes, scores)
        return Spec(int32, (None,))


@op
class NonMaxSuppression(Unpadded):
    """Boxes that overlap by more than a share of their union are dropped."""

    signature = (
        "boxes: float32, scores: float32, max_output_size: int32;"
        " iou_threshold: float = 0.5 -> selected_indices: int32"
    )

    def kernel(self, boxes, scores, max_output_size, iou_threshold):
        share = np.float32(iou_threshold)
        return _selected(boxes, scores, max_output_size, share, -np.inf)[0]


@op
class NonMaxSuppressionV2(Unpadded):
    """Boxes that overlap by more than a share of their union are dropped."""

    signature = (
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold"
        " -> selected_indices: int32"
    )

    def kernel(self, boxes, scores, max_output_size, iou_threshold):
        return _selected(boxes, scores, max_output_size, iou_threshold, -np.inf)[0]


@op
class NonMaxSuppressionV3(Unpadded):
    """Boxes that score too low or overlap with better ones are dropped."""

    signature = (
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold,"
        " score_threshold: T_threshold -> selected_indices: int32"
    )

    def kernel(self, boxes, scores, max_output_size, iou_threshold, score_threshold):
        return _selected(boxes, scores, max_output_size, iou_threshold, score_threshold)[0]


def _count(max_output_size: Spec, padded: bool) -> Spec:
    return Spec(int32, (number(max_output_size) if padded else None,))


@op
class NonMaxSuppressionV4(Suppression):
    """`NonMaxSuppressionV3`, padded with zeros on request, and the number of selected boxes."""

    signature = (
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold,"
        " score_threshold: T_threshold; pad_to_max_output_size: bool = False"
        " -> selected_indices: int32, valid_outputs: int32"
    )

    def infer(
        self, boxes: Spec, scores: Spec, max_output_size: Spec, pad_to_max_output_size
    ) -> Any:
        _infer_checks(boxes, scores)
        return _count(max_output_size, pad_to_max_output_size), Spec(int32, ())

    def kernel(
        self, boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size
    ):
        indices, _, found = _selected(
            boxes, scores, max_output_size, iou_threshold, score_threshold
        )
        if pad_to_max_output_size:
            indices = _padded(indices, int(max_output_size))
        return indices, np.asarray(found, np.int32)


@op
class NonMaxSuppressionV5(Suppression):
    """Soft suppression: the indices, their scores after it, and how many there are."""

    signature = (
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T,"
        " score_threshold: T, soft_nms_sigma: T; pad_to_max_output_size: bool = False"
        " -> selected_indices: int32, selected_scores: T, valid_outputs: int32"
    )

    def infer(
        self, boxes: Spec, scores: Spec, max_output_size: Spec, pad_to_max_output_size
    ) -> Any:
        _infer_checks(boxes, scores)
        selected = _count(max_output_size, pad_to_max_output_size)
        return selected, Spec(scores.dtype, selected.shape), Spec(int32, ())

    def kernel(
        self,
        boxes,
        scores,
        max_output_size,
        iou_threshold,
        score_threshold,
        soft_nms_sigma,
        pad_to_max_output_size,
    ):
        sigma = _scalar(soft_nms_sigma, "soft_nms_sigma")
        if sigma < 0:
            raise invalid_argument("soft_nms_sigma_val must be >= 0")
        indices, values, found = _selected(
            boxes, scores, max_output_size, iou_threshold, score_threshold, sigma
        )
        if pad_to_max_output_size:
            limit = int(max_output_size)
            indices, values = _padded(indices, limit), _padded(values, limit)
        return indices, values, np.asarray(found, np.int32)


@op
class NonMaxSuppressionWithOverlaps(Op):
    """Suppression by a matrix of the boxes' pairwise overlaps."""

    signature = (
        "overlaps: float32, scores: float32, max_output_size: int32,"
        " overlap_threshold: float32, score_threshold: float32"
        " -> selected_indices: int32"
    )
    differentiable = False

    def infer(self, overlaps: Spec, scores: Spec) -> Spec:
        for x, rank in ((overlaps, 2), (scores, 1)):
            if x.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")
        return Spec(int32, (None,))

    def kernel(self, overlaps, scores, max_output_size, overlap_threshold, score_threshold):
        if overlaps.ndim != 2:
            raise invalid_argument(f"overlaps must be 2-D{list(overlaps.shape)}")
        if overlaps.shape[0] != overlaps.shape[1]:
            raise invalid_argument(f"overlaps must be square{list(overlaps.shape)}")
        if scores.shape != overlaps.shape[:1]:
            raise invalid_argument(f"scores has incompatible shape {list(scores.shape)}")
        indices, _, counts = suppress(
            lambda at: overlaps[:, at].T,
            scores[None],
            _limit(max_output_size),
            _scalar(overlap_threshold, "overlap_threshold"),
            _scalar(score_threshold, "score_threshold"),
        )
        return indices[0, : int(counts[0])]


# -- batches and classes ---------------------------------------------------------------


@op
class CombinedNonMaxSuppression(Op):
    """Suppression in every class of every image, then the best of all classes."""

    signature = (
        "boxes: float32, scores: float32, max_output_size_per_class: int32,"
        " max_total_size: int32, iou_threshold: float32, score_threshold: float32;"
        " pad_per_class: bool = False, clip_boxes: bool = True -> nmsed_boxes: float32,"
        " nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32"
    )
    differentiable = False

    def infer(
        self,
        boxes: Spec,
        scores: Spec,
        max_output_size_per_class: Spec,
        max_total_size: Spec,
        pad_per_class,
    ) -> Any:
        for x, rank in ((boxes, 4), (scores, 3)):
            if x.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")
        batch = None if boxes.shape is None else boxes.shape[0]
        total = number(max_total_size)
        if pad_per_class and total is not None:
            each = number(max_output_size_per_class)
            classes = None if scores.shape is None else scores.shape[2]
            known = None not in (each, classes)
            total = min(total, each * classes) if known else None  # type: ignore[operator]  # checked by known
        return (
            Spec(float32, (batch, total, 4)),
            Spec(float32, (batch, total)),
            Spec(float32, (batch, total)),
            Spec(int32, (batch,)),
        )

    def kernel(
        self,
        boxes,
        scores,
        max_output_size_per_class,
        max_total_size,
        iou_threshold,
        score_threshold,
        pad_per_class,
        clip_boxes,
    ):
        each, total = int(max_output_size_per_class), int(max_total_size)
        threshold = _check_combined(boxes, scores, each, total, iou_threshold)
        batch, count, kinds, _ = boxes.shape
        classes = scores.shape[2]
        size = min(total, each * classes) if pad_per_class else total
        if not scores.size:
            none = np.zeros((batch, size, 5), np.float32)
            return none[..., :4], none[..., 4], none[..., 4], np.zeros(batch, np.int32)
        least = _scalar(score_threshold, "score_threshold")
        lanes = scores.transpose(0, 2, 1).reshape(-1, count)
        machine = _machine_suppressed(boxes, scores, each, threshold, least)
        if machine is not None:
            indices, counts = machine
            values = np.take_along_axis(lanes, indices, axis=1)
        else:
            per_class = np.broadcast_to(boxes.transpose(0, 2, 1, 3), (batch, classes, count, 4))
            overlaps = overlaps_of(per_class.reshape(-1, count, 4))
            indices, values, counts = suppress(overlaps, lanes, each, threshold, least)
        taken = indices.shape[1]
        flat = np.where(np.arange(taken) < counts[:, None], values, -np.inf)
        order = np.argsort(-flat.reshape(batch, -1), axis=1, kind="stable")
        order = order[:, :size]
        valid = np.minimum(counts.reshape(batch, -1).sum(axis=1), size).astype(np.int32)
        there = np.arange(order.shape[1]) < valid[:, None]
        kind, row = order // max(taken, 1), np.arange(batch)[:, None]
        index = indices.reshape(batch, classes, -1)[row, kind, order % max(taken, 1)]
        best = boxes[row, index, kind if kinds > 1 else 0]
        if clip_boxes:
            best = np.clip(best, 0, 1)
        result = np.zeros((batch, size, 4), np.float32)
        result[:, : order.shape[1]] = np.where(there[..., None], best, 0)
        kept = np.zeros((2, batch, size), np.float32)
        found = values.reshape(batch, -1)[row, order]
        kept[0, :, : order.shape[1]] = np.where(there, found, 0)
        kept[1, :, : order.shape[1]] = np.where(there, kind, 0)
        return result, kept[0], kept[1], valid


def _check_combined(boxes: Any, scores: Any, each: int, total: int, threshold: Any) -> Any:
    if boxes.ndim != 4 or boxes.shape[3] != 4:
        raise invalid_argument(f"boxes must be 4-D{list(boxes.shape)}")
    if scores.ndim != 3:
        raise invalid_argument(f"scores must be 3-D{list(scores.shape)}")
    if boxes.shape[0] != scores.shape[0]:
        raise invalid_argument("boxes and scores must have same batch size")
    if boxes.shape[1] != scores.shape[1]:
        raise invalid_argument("boxes and scores must have same number of boxes")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise invalid_argument("third dimension of boxes must be either 1 or num classes")
    if each <= 0:
        raise invalid_argument("max_size_per_class must be positive")
    if total <= 0:
        raise invalid_argument("max_total_size must be > 0")
    return _share(threshold)
