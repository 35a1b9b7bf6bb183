"""The processes that write code: as many as are needed, one device for all code."""

from __future__ import annotations

import pathlib

import pytest

import intaglio
from intaglio import tf
from intaglio.export import compilers
from intaglio.export.transport import Answer


def test_processes_end_when_others_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was not asked for the longest ends; an answer that it gives is waited for."""
    monkeypatch.setattr(compilers, "_compilers", {})
    monkeypatch.setattr(compilers, "MAX_COMPILERS", 2)
    first, second = (compilers.compiler("host", threads) for threads in (1, 2))
    assert compilers.compiler("host", 1) is first
    third = compilers.compiler("host", 3)
    assert [*compilers._compilers.values()] == [first, third]
    assert second.alive  # as long as somebody has it
    process = second._process
    del second
    assert process.poll() is not None


def test_libraries_have_one_device(tmp_path: pathlib.Path) -> None:
    """Where ops are placed is nothing to a library."""

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def f(x):
        with tf.device("/CPU:0"):
            return tf.sin(x) + 1.0

    assert (
        intaglio.export_library(f, tmp_path / "placed", kinds=["object"]).paths["object"].exists()
    )


def test_an_answer_without_a_library() -> None:
    with pytest.raises(ValueError, match="no code for it"):
        _ = Answer(failure="no code for it").library_interface
