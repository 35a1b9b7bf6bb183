"""Images: sizes, colors, crops, flips, boxes, random adjustments, quality."""
