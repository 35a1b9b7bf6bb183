"""The classes of errors for paths that do not fit: TensorFlow's, as `path_calls.py` recorded them."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile

import pytest

from intaglio import tf
from tests.saved_model import path_calls

RECORDED = json.loads(path_calls.ANSWERS.read_text())


@pytest.mark.parametrize("name", path_calls.CALLS)
def test_errors_have_tensorflows_classes(
    name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # `answer` leaves another one
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    wanted = {k: c for k, c in RECORDED[name].items() if c != "crash"}
    found = {kind: path_calls.answer(tf, name, kind) for kind in wanted}
    assert found == wanted
    os.chdir(tmp_path)
