"""Boxes drawn into images, each over those before it."""

from __future__ import annotations

import math
from typing import Any


def boxes(
    found: Any, images: Any, corners: Any, colors: Any,
    count: Any, height: Any, width: Any, depth: Any, each: Any, palette: Any, channels: Any,
    first: Any, last: Any,
) -> None:  # fmt: skip
    """Images with the borders of boxes [count, each, 4] in colours that repeat; `corners` are those in pixels."""
    for i in range(count * height * width * depth):
        found[i] = images[i]
    for number in range(count * each):
        image, box = number // each, corners[number * 4 :]
        finite = True
        for c in range(4):
            finite = finite and abs(box[c]) < math.inf
        if not finite:
            continue
        top, left, bottom, right = int(box[0]), int(box[1]), int(box[2]), int(box[3])
        if (
            top > bottom
            or left > right
            or bottom < 0
            or right < 0
            or top >= height
            or left >= width
        ):
            continue
        color = colors[(number % each % palette) * channels :]
        for row in range(max(top, 0), min(bottom, height - 1) + 1):
            for column in range(max(left, 0), min(right, width - 1) + 1):
                if not (top < row < bottom and left < column < right):
                    for c in range(depth):
                        found[((image * height + row) * width + column) * depth + c] = color[c]
