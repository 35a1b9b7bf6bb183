"""`tf2onnx.graph`: Keras sets a method of `Node` that adapts tf2onnx to NumPy 2. Nothing calls it."""

from __future__ import annotations


class Node:
    """A node of tf2onnx' own graphs, of which there are none here."""
