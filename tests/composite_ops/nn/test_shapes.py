"""Losses and normalisations refuse the shapes and axes that TensorFlow refuses."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from intaglio import tf
from tests.composite_ops.nn.shapes import ALONG, PAIRS, outcomes

REFUSED = json.loads(Path(__file__).with_name("refused_shapes.json").read_text())
# Errors of TensorFlow's own code that it does not foresee, and what is raised here instead.
UNFORESEEN = {
    "StagingError": ("ValueError", "TypeError"),
    "IndexError": ("ValueError",),
    "AbortedError": ("InvalidArgumentError",),
}
# An axis that is no number is a TypeError in every mode; axes are counted from the end too.
OTHER = {"softmax loss along": ("TypeError", "")}


@pytest.mark.parametrize("name", [*PAIRS, *ALONG])
def test_what_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("tensorflow"), "disabled", True)
    theirs, ours = REFUSED[name], outcomes(tf, name)
    wrong = {
        label: (ours.get(label, ""), theirs.get(label, ""))
        for label in {**theirs, **ours}
        if ours.get(label, "") != theirs.get(label, "")
        and ours.get(label, "") not in UNFORESEEN.get(theirs.get(label, ""), ())
        and ours.get(label, "") not in OTHER.get(name, ())
    }
    assert not wrong
