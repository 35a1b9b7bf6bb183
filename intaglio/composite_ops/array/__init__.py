"""Tensors created, rearranged, joined and sorted; the sizes of their axes."""
