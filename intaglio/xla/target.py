"""The platform that a program is traced for, which a few rules ask: sums of 16-bit floats, products of integers."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

import jax


class _Target(threading.local):
    platform: str | None = None


_target = _Target()


def is_host() -> bool:
    """Whether the program that is traced runs on the host."""
    return (_target.platform or jax.default_backend()) == "cpu"


@contextmanager
def of(platform: str) -> Generator[None]:
    """In the block programs are traced for a platform: "cpu", "gpu" or "tpu"."""
    before, _target.platform = _target.platform, platform
    try:
        yield
    finally:
        _target.platform = before
