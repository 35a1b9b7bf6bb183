"""Killed processes: what counts as lost."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from trust import kills

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")


class Torn(kills.Kind):
    """Two files, of which only the first is there at once after a kill."""

    name = "torn"

    def save(self, version: int) -> None:
        for number in range(2):
            np.save(f"{self.path}{number}.npy", np.full(200_000, version))

    def load(self) -> list[np.ndarray]:
        return [np.load(f"{self.path}{number}.npy") for number in range(2)]


def test_parts_of_two_versions_are_lost() -> None:
    with pytest.raises(ValueError, match="several versions"):
        kills.version_of([np.ones(3), np.full(2, 2)])
    name, counts = kills.count(Torn, 30, random.Random(0))
    assert name == "torn" and counts.kills == 30
    assert counts.lost
    assert counts.old + counts.new + len(counts.lost) == 30


def test_checkpoints_are_not_lost() -> None:
    _, counts = kills.count(kills.Checkpoint, 5, random.Random(0))
    assert not counts.lost and counts.old + counts.new == 5


def test_a_process_that_cannot_save_is_an_error() -> None:
    class Fails(Torn):
        def save(self, version: int) -> None:
            raise OSError("no")

    with pytest.raises(RuntimeError, match="could not save"):
        kills.kill(Fails("nowhere"), 1, 0.5)
