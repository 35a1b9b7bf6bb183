"""GraphDefs written here were imported and run by real TensorFlow, with these answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from intaglio.graphdef import load

from . import exported_graphs as exported

ANSWERS = json.loads((exported.FOLDER / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", exported.GRAPHS)
def test_we_still_write_what_tensorflow_read(name: str) -> None:
    written = (exported.FOLDER / f"{name}.pb").read_bytes()
    assert exported.built(name)[0].as_graph_def() == load.parse_graph_def(written)


@pytest.mark.parametrize("name", exported.GRAPHS)
def test_we_compute_what_tensorflow_computed(name: str) -> None:
    answer, ours = ANSWERS["graphs"][name], exported.result(name)
    assert list(ours.shape) == answer["shape"]
    if answer["dtype"] == "string":
        assert [v.decode() for v in ours.reshape(-1)] == answer["values"]
        return
    assert str(ours.dtype) == answer["dtype"]
    wanted = np.array(answer["values"], ours.dtype).reshape(ours.shape)
    np.testing.assert_allclose(ours, wanted, rtol=2e-6, atol=1e-7)


def test_every_graph_has_an_answer_of_tensorflow() -> None:
    assert set(ANSWERS["graphs"]) == set(exported.GRAPHS)
    assert ANSWERS["tensorflow"].startswith("2.21")
