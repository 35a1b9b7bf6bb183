"""All families of programs, and so the whole table."""

from __future__ import annotations

from benchmarks.programs import (
    algebra,
    algorithms,
    attention,
    convolutions,
    distances,
    embeddings,
    images,
    keras_models,
    learning,
    ordering,
    pipelines,
    precision,
    recursions,
    science,
    sequences,
    signals,
    stencils,
    text,
)
from benchmarks.programs.registry import PROGRAMS

FAMILIES = (
    distances, stencils, embeddings, algebra, signals, convolutions, sequences, ordering, text,
    images, pipelines, attention, learning, science, precision, algorithms, recursions, keras_models,
)  # fmt: skip

__all__ = ["FAMILIES", "PROGRAMS"]
