"""The catalogue: every op once, by family. Importing this package declares them all."""

from intaglio.ops import (
    arithmetic,
    filling,
    gathering,
    graph_inputs,
    joining,
    padding,
    passing,
    reshaping,
    resource_variable,
    scattering,
    selection,
    shaping,
    slicing,
)

__all__ = [
    "arithmetic",
    "filling",
    "gathering",
    "graph_inputs",
    "joining",
    "padding",
    "passing",
    "reshaping",
    "resource_variable",
    "scattering",
    "selection",
    "shaping",
    "slicing",
]
