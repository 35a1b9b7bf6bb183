"""Calls of tf.image, whose answers TensorFlow gave (see record.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[Any], Any]
rng = np.random.RandomState(7)
IMAGE = rng.uniform(0, 1, (5, 6, 3)).astype("float32")
BATCH = rng.uniform(0, 1, (3, 4, 7, 3)).astype("float32")
BYTES = rng.randint(0, 256, (4, 5, 3)).astype("uint8")
GRAY = rng.uniform(0, 1, (2, 5, 5, 1)).astype("float32")
BOXES = np.sort(rng.uniform(0, 1, (2, 9, 2, 2)), axis=2).reshape(2, 9, 4).astype("f")
SCORES = (rng.permutation(18) / 18).reshape(2, 9).astype("float32")
METHODS = (
    "bilinear",
    "bicubic",
    "area",
    "nearest",
    "gaussian",
    "lanczos3",
    "lanczos5",
    "mitchellcubic",
)

RESIZED: dict[str, Call] = {}
for method in METHODS:
    for antialias in (False, True):
        for name, size in (("up", [9, 8]), ("down", [2, 3])):
            RESIZED[f"{method} {name} {antialias}"] = lambda tf, m=method, a=antialias, s=size: (
                tf.image.resize(BATCH, s, m, antialias=a)
            )
    RESIZED[f"{method} bytes"] = lambda tf, m=method: tf.image.resize(BYTES, [3, 7], m)
RESIZED |= {
    "resize same": lambda tf: tf.image.resize(BYTES, [4, 5]),
    "resize ratio": lambda tf: tf.image.resize(IMAGE, [10, 9], preserve_aspect_ratio=True),
    "crop_and_resize": lambda tf: tf.image.crop_and_resize(
        BATCH, BOXES[0], [0, 1, 2] * 3, [3, 2], extrapolation_value=5.0
    ),
}
for height, width in ((4, 4), (3, 11), (12, 5), (2, 2)):
    for antialias in (False, True):
        RESIZED[f"with_pad {height} {width} {antialias}"] = (
            lambda tf, h=height, w=width, a=antialias: tf.image.resize_with_pad(
                IMAGE, h, w, antialias=a
            )
        )
    RESIZED[f"crop_or_pad {height} {width}"] = lambda tf, h=height, w=width: (
        tf.image.resize_with_crop_or_pad(BATCH, h, w)
    )
PARTS: dict[str, Call] = {
    "crop": lambda tf: tf.image.crop_to_bounding_box(BATCH, 1, 2, 3, 4),
    "crop one": lambda tf: tf.image.crop_to_bounding_box(IMAGE, 0, 1, 2, 2),
    "pad": lambda tf: tf.image.pad_to_bounding_box(BATCH, 1, 2, 8, 9),
    "pad none": lambda tf: tf.image.pad_to_bounding_box(IMAGE, 0, 0, 5, 6),
    "patches": lambda tf: tf.image.extract_patches(
        BATCH, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 2, 1], "SAME"
    ),
    "glimpse": lambda tf: tf.image.extract_glimpse(
        BATCH, [3, 3], [[0.1, 0.2], [-1, 1], [0, 0]], noise="zero"
    ),
}
for share in (0.1, 0.33, 0.5, 0.7, 1.0):
    PARTS[f"central {share}"] = lambda tf, s=share: tf.image.central_crop(BATCH, s)
TURNED: dict[str, Call] = {
    "left_right": lambda tf: tf.image.flip_left_right(IMAGE),
    "up_down": lambda tf: tf.image.flip_up_down(BATCH),
    "transpose": lambda tf: tf.image.transpose(BATCH),
    "transpose one": lambda tf: tf.image.transpose(BYTES),
}
for turns in (-1, 0, 1, 2, 3, 6):
    TURNED[f"rot90 {turns}"] = lambda tf, k=turns: tf.image.rot90(IMAGE, k)
    TURNED[f"rot90 batch {turns}"] = lambda tf, k=turns: tf.image.rot90(BATCH, tf.constant(k))
COLORS: dict[str, Call] = {}
for name, image in (
    ("float", IMAGE),
    ("bytes", BYTES),
    ("batch", BATCH),
    ("int16", (BYTES.astype("int16") - 128) * 200),
):
    COLORS |= {
        f"brightness {name}": lambda tf, x=image: tf.image.adjust_brightness(x, 0.3),
        f"contrast {name}": lambda tf, x=image: tf.image.adjust_contrast(x, 1.7),
        f"gamma {name}": lambda tf, x=image: tf.image.adjust_gamma(abs(x), 2.2, 0.9),
        f"hue {name}": lambda tf, x=image: tf.image.adjust_hue(x, 0.3),
        f"saturation {name}": lambda tf, x=image: tf.image.adjust_saturation(x, 0.6),
        f"standard {name}": lambda tf, x=image: tf.image.per_image_standardization(x),
        f"gray {name}": lambda tf, x=image: tf.image.rgb_to_grayscale(x),
    }
COLORS |= {
    "hsv": lambda tf: tf.image.rgb_to_hsv(BATCH),
    "rgb": lambda tf: tf.image.hsv_to_rgb(BATCH),
    "standard flat": lambda tf: tf.image.per_image_standardization(IMAGE * 0 + 3),
    "gray_to_rgb": lambda tf: tf.image.grayscale_to_rgb(tf.constant(GRAY)),
    "yiq": lambda tf: tf.image.rgb_to_yiq(BATCH),
    "from yiq": lambda tf: tf.image.yiq_to_rgb(BATCH),
    "yuv": lambda tf: tf.image.rgb_to_yuv(BATCH.astype("float64")),
    "from yuv": lambda tf: tf.image.yuv_to_rgb(BATCH),
}
KINDS = ("uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64")
for wanted in KINDS:
    for saturate in (False, True):
        COLORS |= {
            f"uint8 to {wanted} {saturate}": lambda tf, d=wanted, s=saturate: (
                tf.image.convert_image_dtype(BYTES, d, saturate=s)
            ),
            f"int16 to {wanted} {saturate}": lambda tf, d=wanted, s=saturate: (
                tf.image.convert_image_dtype(BYTES.astype("int16") * 120, d, saturate=s)
            ),
        }
    if wanted != "int64":
        COLORS[f"float to {wanted}"] = lambda tf, d=wanted: tf.image.convert_image_dtype(
            IMAGE * 1.2 - 0.1, d, saturate=True
        )
CHANCE: dict[str, Call] = {}
for seed in (3, 4):
    pair = (seed, 7)
    for name, args in (
        ("brightness", (0.4,)),
        ("contrast", (0.2, 1.8)),
        ("hue", (0.4,)),
        ("saturation", (0.2, 1.8)),
        ("flip_left_right", ()),
        ("flip_up_down", ()),
    ):
        for what, image in (("one", IMAGE), ("batch", BATCH), ("bytes", BYTES)):
            CHANCE[f"{name} {what} {seed}"] = lambda tf, n=name, a=args, x=image, s=seed: _seeded(
                tf, lambda: getattr(tf.image, f"random_{n}")(x, *a, seed=s)
            )
            CHANCE[f"stateless {name} {what} {seed}"] = lambda tf, n=name, a=args, x=image, s=pair: (
                getattr(tf.image, f"stateless_random_{n}")(x, *a, seed=s)
            )
    CHANCE |= {
        f"crop {seed}": lambda tf, s=seed: _seeded(
            tf, lambda: tf.image.random_crop(IMAGE, [2, 3, 3], seed=s)
        ),
        f"stateless crop {seed}": lambda tf, s=pair: tf.image.stateless_random_crop(
            IMAGE, [2, 3, 2], seed=s
        ),
        f"sampled {seed}": lambda tf, s=seed: _seeded(
            tf, lambda: list(tf.image.sample_distorted_bounding_box([50, 60, 3], BOXES, seed=s))
        ),
        f"stateless sampled {seed}": lambda tf, s=pair: list(
            tf.image.stateless_sample_distorted_bounding_box([50, 60, 3], BOXES, s)
        ),
    }


def _seeded(tf: Any, call: Callable[[], Any]) -> Any:
    tf.random.set_seed(11)
    return call()


QUALITY: dict[str, Call] = {
    "psnr": lambda tf: tf.image.psnr(BATCH, BATCH[:, ::-1], 1.0),
    "psnr bytes": lambda tf: tf.image.psnr(BYTES, BYTES[::-1], 255),
    "variation": lambda tf: tf.image.total_variation(tf.constant(BATCH)),
    "variation one": lambda tf: tf.image.total_variation(tf.constant(IMAGE)),
    "gradients": lambda tf: list(tf.image.image_gradients(tf.constant(BATCH))),
    "sobel": lambda tf: tf.image.sobel_edges(tf.constant(BATCH)),
    "ssim": lambda tf: tf.image.ssim(BATCH, BATCH * 0.8, 1.0, filter_size=3),
    "ssim bytes": lambda tf: tf.image.ssim(BYTES, BYTES[:, ::-1], 255, filter_size=4),
    "ssim map": lambda tf: tf.image.ssim(
        BATCH, BATCH[:, ::-1], 1.0, filter_size=3, return_index_map=True
    ),
    "ssim scales": lambda tf: tf.image.ssim_multiscale(
        BATCH, BATCH * 0.8 + 0.1, 1.0, power_factors=(0.4, 0.6), filter_size=2
    ),
    "ssim scales one": lambda tf: tf.image.ssim_multiscale(
        np.kron(IMAGE, np.ones((5, 5, 1), "f")),
        np.kron(IMAGE, np.ones((5, 5, 1), "f")) * 0.9,
        1.0,
        power_factors=(0.4, 0.3, 0.3),
        filter_size=5,
    ),
}
SUPPRESSED: dict[str, Call] = {
    "draw": lambda tf: tf.image.draw_bounding_boxes(
        BATCH[:2], BOXES, [[1.0, 0.5, 0.2], [0.1, 0.2, 0.3]]
    ),
    "draw palette": lambda tf: tf.image.draw_bounding_boxes(BATCH[:2], BOXES, None),
    "nms": lambda tf: tf.image.non_max_suppression(BOXES[0], SCORES[0], 5, 0.3),
    "nms scores": lambda tf: list(
        tf.image.non_max_suppression_with_scores(BOXES[0], SCORES[0], 5, soft_nms_sigma=0.3)
    ),
    "nms overlaps": lambda tf: tf.image.non_max_suppression_overlaps(
        np.abs(BOXES[0] @ BOXES[0].T) / 3, SCORES[0], 5, 0.3, 0.2
    ),
    "combined": lambda tf: list(
        tf.image.combined_non_max_suppression(
            BOXES[:, :, None], np.stack([SCORES, SCORES[:, ::-1]], -1), 3, 5, 0.3, 0.2
        )
    ),
    "padded one": lambda tf: list(
        tf.image.non_max_suppression_padded(tf.constant(BOXES[0]), SCORES[0], 5, 0.3)
    ),
    "padded one full": lambda tf: list(
        tf.image.non_max_suppression_padded(
            tf.constant(BOXES[0]), SCORES[0], 12, 0.3, 0.2, pad_to_max_output_size=True
        )
    ),
    "padded": lambda tf: list(
        tf.image.non_max_suppression_padded(
            tf.constant(BOXES), SCORES, 5, 0.3, 0.2, pad_to_max_output_size=True
        )
    ),
    "padded long": lambda tf: list(
        tf.image.non_max_suppression_padded(
            tf.constant(BOXES), SCORES, 20, 0.1, pad_to_max_output_size=True
        )
    ),
}
CALLS = {**RESIZED, **PARTS, **TURNED, **COLORS, **CHANCE, **QUALITY, **SUPPRESSED}
ERRORS: dict[str, Call] = {
    "resize rank": lambda tf: tf.image.resize(IMAGE[0], [2, 2]),
    "resize size": lambda tf: tf.image.resize(IMAGE, [2, 2, 2]),
    "resize method": lambda tf: tf.image.resize(IMAGE, [2, 2], "sinc"),
    "central": lambda tf: tf.image.central_crop(IMAGE, 1.5),
    "crop far": lambda tf: tf.image.crop_to_bounding_box(IMAGE, 1, 2, 9, 4),
    "crop offset": lambda tf: tf.image.crop_to_bounding_box(IMAGE, -1, 2, 2, 2),
    "pad small": lambda tf: tf.image.pad_to_bounding_box(IMAGE, 1, 2, 3, 9),
    "flip rank": lambda tf: tf.image.flip_up_down(IMAGE[0]),
    "gamma": lambda tf: tf.image.adjust_gamma(IMAGE, -1),
    "hue": lambda tf: tf.image.random_hue(IMAGE, 0.7),
    "brightness": lambda tf: tf.image.random_brightness(IMAGE, -0.1),
    "contrast": lambda tf: tf.image.random_contrast(IMAGE, 0.5, 0.2),
    "saturation": lambda tf: tf.image.random_saturation(IMAGE, -0.5, 0.2),
    "quality": lambda tf: tf.image.random_jpeg_quality(IMAGE, 0, 200),
    "qualities": lambda tf: tf.image.random_jpeg_quality(IMAGE, 50, 20),
    "dtype": lambda tf: tf.image.convert_image_dtype(IMAGE, "string"),
    "gradients": lambda tf: tf.image.image_gradients(tf.constant(IMAGE)),
    "variation": lambda tf: tf.image.total_variation(tf.constant(IMAGE[0])),
    "ssim shapes": lambda tf: tf.image.ssim(BATCH, BATCH[:, :2], 1.0),
    "padded batch": lambda tf: tf.image.non_max_suppression_padded(tf.constant(BOXES), SCORES, 5),
    "random_crop": lambda tf: tf.image.random_crop(IMAGE, [9, 2, 3]),
    "glimpse": lambda tf: tf.image.extract_glimpse(BATCH, [2, 2], [[0.0, 0.0]]),
    "crop_and_resize": lambda tf: tf.image.crop_and_resize(BATCH, BOXES[0, :1], [3], [2, 2]),
}


def arrays(result: Any) -> list[np.ndarray]:
    """The tensors that a call returned, as float64 arrays."""
    many = result if isinstance(result, (list, tuple)) else [result]
    return [np.asarray(t).astype(np.float64) for t in many]
