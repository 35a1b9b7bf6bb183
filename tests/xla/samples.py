"""Samples of ops as XLA programs, carried out by XLA's CPU, or by the machine's accelerator if it has one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from intaglio.ir.graph import Graph
from intaglio.runtime import interpreter
from intaglio.runtime.hooks import SERVICES
from intaglio.xla import meshes
from intaglio.xla.evaluator import NodeUntraceable
from intaglio.xla.program import Program, streams_of, words_of
from tests.ops.recorded import Recorded

# Samples in one XLA program: what a compilation costs is little more for many.
BATCH = 12


def route(one: Recorded) -> str:
    """How the sample's op becomes part of a program: a route of the evaluator, or "known".

    Raises NodeUntraceable.
    """
    program = Program(one.graph, one.arrays, streams_of(one.graph))
    with jax.enable_x64(True):
        program.tried(one.arrays, _words(one.graph))
    return program.routes.get(one.sample.op, "known")


def _words(graph: Graph) -> list[np.ndarray]:
    streams = [interpreter.kept(s, SERVICES.stream) for s in streams_of(graph)]
    return words_of([s.take(0) for s in streams])


def computed(batch: Sequence[Recorded]) -> list[list[np.ndarray] | NodeUntraceable]:
    """What XLA gives for each sample, all of them in one program."""
    results: list[Any] = [None] * len(batch)
    device = next((found for _, found in meshes.accelerators()), None)
    programs = [Program(b.graph, b.arrays, streams_of(b.graph), device=device) for b in batch]
    words = [_words(one.graph) for one in batch]
    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        able: list[int] = []
        for i, (one, program) in enumerate(zip(batch, programs, strict=True)):
            try:
                program.tried(one.arrays, words[i])
                able.append(i)
            except NodeUntraceable as e:
                results[i] = e

        def together(arrays: Any, words: Any) -> Any:
            return [
                [jnp.asarray(v) for v in programs[i].outputs_of(a, w)]
                for i, a, w in zip(able, arrays, words, strict=True)
            ]

        found = jax.jit(together)([batch[i].arrays for i in able], [words[i] for i in able])
        for i, values in zip(able, found, strict=True):
            results[i] = [np.asarray(v) for v in values]
    return results
