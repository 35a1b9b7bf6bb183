"""Devices of XLA's host in the place of accelerators, for tests."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from intaglio.base.devices import reset_devices

_kinds: list[str] = []


def stand_ins() -> list[str]:
    """The types of accelerators that devices of the host stand in for."""
    return [*_kinds]


@contextlib.contextmanager
def host_as(*kinds: str) -> Generator[None]:
    """In the block the devices that XLA has on the host are accelerators of these types, in turn.

    What is computed there takes every step that it takes on an accelerator.
    """
    before = stand_ins()
    _kinds[:] = kinds
    reset_devices()
    try:
        yield
    finally:
        _kinds[:] = before
        reset_devices()
