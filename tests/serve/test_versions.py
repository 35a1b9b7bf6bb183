"""Versions: found, swapped, failed, removed, and none lost meanwhile."""

from __future__ import annotations

import pathlib
import shutil
import threading

import pytest

from intaglio.base import errors
from intaglio.serve import servables
from intaglio.serve.servables import Servable
from intaglio.serve.versions import Models, status_json
from tests.serve import models


def _folder(path: pathlib.Path, text: str = "") -> pathlib.Path:
    """The folder of a version for `_load`: its file is the version's text."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "saved_model.pb").write_text(text)
    return path


def _load(folder: str) -> Servable:
    text = (pathlib.Path(folder) / "saved_model.pb").read_text()
    if text == "bad":
        raise errors.DataLossError(None, None, "bad bytes")
    return Servable({}, {"text": text})


def _served(found: Models, name: str, version: int | None = None) -> tuple[int, str]:
    number, servable = found.servable(name, version)
    return number, servable.metadata["text"]


def test_the_latest_version_serves(tmp_path: pathlib.Path) -> None:
    _folder(tmp_path / "m" / "2", "two")
    _folder(tmp_path / "m" / "10", "ten")
    _folder(tmp_path / "m" / "notes", "none")
    _folder(tmp_path / "m" / ".11", "hidden")
    (tmp_path / "m" / "12").mkdir()  # without a model
    _folder(tmp_path / "other" / "1", "other")
    found = Models(str(tmp_path), load=_load)
    found.refresh()
    assert found.names() == ["m", "other"]
    assert _served(found, "m") == (10, "ten")
    for name, version in (("m", 2), ("m", 12), ("n", None)):
        with pytest.raises(errors.NotFoundError, match="Servable not found"):
            found.servable(name, version)


def test_several_versions_serve(tmp_path: pathlib.Path) -> None:
    for number in (1, 2, 3):
        _folder(tmp_path / "m" / str(number), f"v{number}")
    found = Models(str(tmp_path), 2, _load)
    found.refresh()
    assert _served(found, "m", 2) == (2, "v2")
    with pytest.raises(errors.NotFoundError):
        found.servable("m", 1)
    every = Models(str(tmp_path / "m"), 0, _load)  # the folder of one model
    every.refresh()
    assert [_served(every, "m", n)[1] for n in (1, 2, 3)] == ["v1", "v2", "v3"]


def test_new_versions_replace_old_ones_and_rollbacks_work(tmp_path: pathlib.Path) -> None:
    _folder(tmp_path / "m" / "1", "one")
    found = Models(str(tmp_path), load=_load)
    found.refresh()
    old = found.servable("m", None)[1]
    _folder(tmp_path / "m" / "2", "two")
    found.refresh()
    assert _served(found, "m") == (2, "two")
    assert old.metadata["text"] == "one"  # for requests that have it
    model = found.model("m")
    assert model is not None
    assert [
        (s["version"], s["state"]) for s in status_json(model, None)["model_version_status"]
    ] == [("2", "AVAILABLE"), ("1", "END")]
    shutil.rmtree(tmp_path / "m" / "2")
    found.refresh()
    assert _served(found, "m") == (1, "one")
    shutil.rmtree(tmp_path / "m")
    found.refresh()
    assert found.names() == []


def test_a_version_that_fails_leaves_the_old_one(tmp_path: pathlib.Path) -> None:
    _folder(tmp_path / "m" / "1", "one")
    _folder(tmp_path / "m" / "2", "bad")
    found = Models(str(tmp_path), load=_load)
    found.refresh()
    assert _served(found, "m") == (1, "one")
    model = found.model("m")
    assert model is not None
    (status,) = status_json(model, 2)["model_version_status"]
    assert status["status"] == {
        "error_code": "DATA_LOSS",
        "error_message": "DataLossError: bad bytes",
    }
    _folder(tmp_path / "m" / "2", "complete")  # as when it was still being copied
    found.refresh()
    assert _served(found, "m") == (2, "complete")
    _folder(tmp_path / "m" / "2", "bad")  # overwritten in place: what is loaded goes on
    found.refresh()
    assert _served(found, "m") == (2, "complete")
    _folder(tmp_path / "m" / "2", "longer than before")
    found.refresh()
    assert _served(found, "m") == (2, "longer than before")


def test_links_out_of_the_folder_are_not_served(tmp_path: pathlib.Path) -> None:
    outside = _folder(tmp_path / "outside" / "1", "secret")
    _folder(tmp_path / "served" / "m" / "3", "three")
    (tmp_path / "served" / "m" / "4").symlink_to(outside)
    (tmp_path / "served" / "m" / "5").symlink_to(tmp_path / "served" / "m" / "3")
    (tmp_path / "served" / "n").symlink_to(outside.parent)
    found = Models(str(tmp_path / "served"), 0, _load)
    found.refresh()
    assert found.names() == ["m"]
    model = found.model("m")
    assert model is not None and sorted(model.serving) == [3, 5]


def test_no_request_is_without_a_version_while_versions_change(tmp_path: pathlib.Path) -> None:
    _folder(tmp_path / "m" / "1", "1")
    found = Models(str(tmp_path), load=_load)
    found.refresh()
    found.start(0.0)
    wrong: list[object] = []
    stop = threading.Event()

    def ask() -> None:
        last = 0
        while not stop.is_set():
            try:
                number, text = _served(found, "m")
            except errors.NotFoundError as e:
                wrong.append(e)
                return
            if text != str(number) or number < last:
                wrong.append((number, text, last))
            last = number

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(2, 30):
        _folder(tmp_path / f"new{number}", str(number)).rename(tmp_path / "m" / str(number))
        while found.servable("m", None)[0] != number:
            stop.wait(0.001)
        shutil.rmtree(tmp_path / "m" / str(number - 1))
    stop.set()
    for thread in threads:
        thread.join()
    found.stop()
    assert not wrong


def test_models_without_a_serving_graph_are_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match="is no folder"):
        Models(str(tmp_path / "nothing"))
    with pytest.raises(OSError, match="does not exist"):
        servables.load(str(tmp_path))
    (tmp_path / "m" / "1").mkdir(parents=True)
    (tmp_path / "m" / "1" / "saved_model.pb").write_bytes(b"\xff\xff")
    found = Models(str(tmp_path))
    found.refresh()
    model = found.model("m")
    assert model is not None and not model.serving
    assert model.statuses[1].state == "END" and model.statuses[1].message


def test_signatures_are_functions_of_arrays(tmp_path: pathlib.Path) -> None:
    models.save_scaled(tmp_path / "1", 3.0)
    signature = servables.load(str(tmp_path / "1")).signature("serving_default")
    assert signature.takes_rows
    assert {n: (i.dtype.name, i.dims) for n, i in signature.inputs.items()} == {
        "x": ("float32", (None,))
    }
