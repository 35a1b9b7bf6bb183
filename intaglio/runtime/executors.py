"""Tensors whose ops something else than the host's kernels carries out, such as those of a mesh of devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

# Carries out an op with flat inputs, of which one is a tensor of the type; returns flat outputs.
Executor = Callable[[Any, Sequence[Any], dict[str, Any], str | None], Sequence[Any]]

EXECUTORS: dict[type, Executor] = {}


def register_executor(kind: type, executor: Executor) -> None:
    """Has `executor` carry out ops with a tensor of this type among their inputs."""
    EXECUTORS[kind] = executor


def executor_of(tensors: Sequence[Any]) -> Executor | None:
    """What carries out an op with these inputs; None for the host."""
    for tensor in tensors:
        found = EXECUTORS.get(type(tensor))
        if found is not None:
            return found
    return None


__all__ = ["EXECUTORS", "Executor", "executor_of", "register_executor"]
