"""Files and folders that are replaced at once: old or new, wherever the process is killed."""

from __future__ import annotations

import errno
import os
import pathlib
from typing import Any

import pytest

from intaglio.base import errors, files, replacing
from tests.killing import killed_at_every_step

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")


def test_a_file_is_the_old_or_the_new_one(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old" * 1000)

    def write() -> None:
        with replacing.replaced(str(path)) as file:
            file.write(b"new" * 1000)

    def check() -> None:
        assert path.read_bytes() in (b"old" * 1000, b"new" * 1000)

    assert killed_at_every_step(write, check) > 3
    assert path.read_bytes() == b"new" * 1000
    write()
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("foreign", [False, True])
def test_a_folder_is_the_old_or_the_new_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, exchange: bool, foreign: bool
) -> None:
    if not exchange:
        monkeypatch.setattr(replacing, "_exchanged", lambda one, other: False)
    path = tmp_path / "model"
    own = ("graph", "variables")

    def write(text: str) -> None:
        with replacing.replaced_folder(str(path), own) as folder:
            new = pathlib.Path(folder)
            (new / "variables").mkdir()
            (new / "graph").write_text(text)
            (new / "variables" / "data").write_text(text)

    def read() -> str:
        replacing.finish(str(path))
        text = (path / "graph").read_text()
        assert (path / "variables" / "data").read_text() == text
        assert not foreign or (path / "notes").read_text() == "mine"
        return text

    def check() -> None:
        assert read() in ("old", "new")

    write("old")
    if foreign:
        (path / "notes").write_text("mine")
    assert killed_at_every_step(lambda: write("new"), check) > 5
    assert read() == "new"
    write("newer")
    assert read() == "newer"
    assert os.listdir(tmp_path) == ["model"]
    assert {*os.listdir(path)} == {*own, *(["notes"] if foreign else [])}


def test_a_path_is_the_old_or_the_new_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "model.keras"
    path.write_text("old")

    def write() -> None:
        with replacing.replaced_path(str(path)) as beside:
            assert beside.endswith("/model.keras")
            pathlib.Path(beside).write_text("new")

    killed_at_every_step(write, lambda: _in(path.read_text(), "old", "new"))
    write()
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["model.keras"]


def _in(value: Any, *values: Any) -> None:
    assert value in values


def test_writers_at_the_same_time_do_not_meet(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    one, other = replacing.NewFile(str(path)), replacing.NewFile(str(path))
    assert one.partial != other.partial
    one.file.write(b"one")
    other.file.write(b"other")
    one.commit()
    assert path.read_bytes() == b"one"
    other.commit()
    assert path.read_bytes() == b"other"
    assert os.listdir(tmp_path) == ["file"]


def test_what_fails_leaves_the_old_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), replacing.replaced(str(path)) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_is_an_error_of_ours(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, number: int, call: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        with pytest.raises(errors.ResourceExhaustedError, match="file; "):
            files.write(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_links_and_devices_stay_what_they_are(tmp_path: pathlib.Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    files.write(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"new"
    files.write(os.devnull, b"nothing")
    assert not os.path.isfile(os.devnull)


def test_long_names_can_be_written(tmp_path: pathlib.Path) -> None:
    path = tmp_path / ("n" * 250)
    files.write(str(path), b"new")
    assert path.read_bytes() == b"new"
