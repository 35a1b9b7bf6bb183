"""All families of programs, and so the whole table."""

from __future__ import annotations

from benchmarks.programs import (
    algebra,
    algorithms,
    attention,
    convolutions,
    distances,
    embeddings,
    finance,
    graphs,
    images,
    keras_models,
    language,
    learning,
    ordering,
    physics,
    pipelines,
    precision,
    probability,
    recursions,
    science,
    sequences,
    signals,
    stencils,
    text,
    vision,
)
from benchmarks.programs.registry import PROGRAMS

FAMILIES = (
    distances, stencils, embeddings, algebra, signals, convolutions, sequences, ordering, text,
    images, pipelines, attention, learning, science, precision, algorithms, recursions, finance,
    probability, graphs, language, vision, physics, keras_models,
)  # fmt: skip

__all__ = ["FAMILIES", "PROGRAMS"]
