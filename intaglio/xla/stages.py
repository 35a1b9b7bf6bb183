"""A graph's program as text and bytes: StableHLO and HLO, as XLA gets it and as it runs it; exported programs.

An exported program is a StableHLO module that `jax.export` keeps compatible: other versions, plain JAX
and other runtimes load it. Sources: https://docs.jax.dev/en/latest/export/export.html and
https://www.tensorflow.org/api_docs/python/tf/function (experimental_get_compiler_ir).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import export

from intaglio.ir.graph import Graph
from intaglio.runtime.resources import Resource
from intaglio.xla.program import Program, Programs, streams_of
from intaglio.xla.values import Untraceable


def text(graph: Graph, arrays: Sequence[Any], stage: str) -> str | bytes:
    """The program of a graph for these arrays, at one of the STAGES.

    Raises ValueError for a graph that is no XLA program.
    """
    try:
        return STAGES[stage](Programs(graph, spans=True), arrays)
    except Untraceable as e:
        raise ValueError(f"{graph.name} is no XLA program: {e}") from e


def _of(stage: str) -> Callable[[Programs, Sequence[Any]], Any]:
    return lambda programs, arrays: programs.ir(arrays, stage)


def _bytes_of(stage: str) -> Callable[[Programs, Sequence[Any]], bytes]:
    def serialized(programs: Programs, arrays: Sequence[Any]) -> bytes:
        if stage == "hlo":
            return (
                programs.ir(arrays, "lowered").compiler_ir("hlo").as_serialized_hlo_module_proto()
            )
        compiled = programs.ir(arrays, "compiled")
        return compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()

    return serialized


STAGES: dict[str, Callable[[Programs, Sequence[Any]], Any]] = {
    "hlo": _of("hlo"),
    "hlo_serialized": _bytes_of("hlo"),
    "optimized_hlo": _of("optimized_hlo"),
    "optimized_hlo_serialized": _bytes_of("optimized_hlo"),
    "stablehlo": _of("stablehlo"),
}


def exported(graph: Graph, arrays: Sequence[Any], arguments: int) -> bytes:
    """The program as bytes that `jax.export.deserialize` reads; `arguments` are its first inputs.

    What the graph captures is part of it, variables with their present values. Raises ValueError for a
    graph that is no XLA program, writes variables, or draws random numbers from a state.
    """
    program = Program(graph, arrays, streams_of(graph))
    if streams_of(graph):
        raise ValueError("a program that draws random numbers from a state cannot be exported")
    captured = list(arrays[arguments:])

    def run(*operands: Any) -> tuple[Any, ...]:
        outputs = program.outputs_of([*operands, *captured], ())
        if program.written:
            raise ValueError("a program that writes variables cannot be exported")
        return tuple(outputs)

    taken = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays[:arguments]]
    if any(isinstance(a, Resource) for a in arrays[:arguments]):
        raise ValueError("a program that takes variables as arguments cannot be exported")
    _check_serialization()
    try:
        with jax.enable_x64(True):
            return bytes(export.export(jax.jit(run))(*taken).serialize())
    except Untraceable as e:
        raise ValueError(f"{graph.name} is no XLA program: {e}") from e


def _check_serialization() -> None:
    """Raises ImportError without flatbuffers, of which jax makes its files, but which it may lack."""
    if importlib.util.find_spec("flatbuffers") is None:
        raise ImportError(
            'jax writes programs with flatbuffers, which is not installed: pip install "intaglio[xla]"',
            name="flatbuffers",
        )


def loaded(data: bytes) -> Callable[..., list[np.ndarray]]:
    """An exported program as a function of arrays."""
    _check_serialization()
    program = export.deserialize(bytearray(data))
    run = jax.jit(program.call)

    def call(*arrays: Any) -> list[np.ndarray]:
        with jax.enable_x64(True):
            return [np.asarray(v) for v in run(*arrays)]

    return call
