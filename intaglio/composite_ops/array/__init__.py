"""Tensors made, rearranged, joined and sorted; the sizes of their axes."""
