"""Executors: what executes ops on tensors that the host's kernels cannot, such as those of a device mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

# Executes an op with flat inputs, at least one of the registered type; returns flat outputs.
Executor = Callable[[Any, Sequence[Any], dict[str, Any], str | None], Sequence[Any]]

EXECUTORS: dict[type, Executor] = {}


def register_executor(kind: type, executor: Executor) -> None:
    """Registers the executor of ops that have a tensor of this type among their inputs."""
    EXECUTORS[kind] = executor


def executor_of(tensors: Sequence[Any]) -> Executor | None:
    """The executor of an op with these inputs; None for the host's kernels."""
    for tensor in tensors:
        found = EXECUTORS.get(type(tensor))
        if found is not None:
            return found
    return None


__all__ = ["EXECUTORS", "Executor", "executor_of", "register_executor"]
