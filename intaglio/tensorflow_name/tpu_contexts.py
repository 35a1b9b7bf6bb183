"""`tensorflow.python.tpu`: how libraries ask whether they run on TPUs. They never do here."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from intaglio.base.threads import Inherited


class TpuContext(Inherited):
    """How many shards a batch is divided into, None where no block says it."""

    def __init__(self) -> None:
        self.number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """What `number_of_shards` is from now on."""
        self.number_of_shards = number_of_shards


_CONTEXT = TpuContext()


def get_tpu_context() -> TpuContext:
    """The context of the thread."""
    return _CONTEXT


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Generator[None]:
    """A block for so many shards. Raises NotImplementedError inside another one, as TensorFlow does."""
    if _CONTEXT.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested")
    _CONTEXT.number_of_shards = number_of_shards
    try:
        yield
    finally:
        _CONTEXT.number_of_shards = None


class _Pipelining(Inherited):
    """Whether a TPU looks up the next step's embeddings during a step."""

    def __init__(self) -> None:
        self.enabled = True


embedding_pipelining_state = _Pipelining()


@contextlib.contextmanager
def sequential_embeddings() -> Generator[None]:
    """A block in which embeddings are looked up step by step, as they are here anyway."""
    before = embedding_pipelining_state.enabled
    embedding_pipelining_state.enabled = False
    try:
        yield
    finally:
        embedding_pipelining_state.enabled = before
