"""tf.io: files in and out, folders, records. What TensorFlow does was asked of TensorFlow."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib
from typing import Any

import pytest

from intaglio import tf

gfile = tf.io.gfile


@pytest.fixture
def folder(tmp_path: Any, monkeypatch: Any) -> Any:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_write_file_makes_folders_and_leaves_nothing_beside(folder):
    tf.io.write_file("a/b/c.txt", "data")
    assert tf.io.read_file("a/b/c.txt").numpy() == b"data"
    assert os.listdir(folder / "a" / "b") == ["c.txt"]


def test_writing_that_fails_leaves_the_old_file(folder):
    tf.io.write_file("a", "old")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.io.write_file(str(folder), "new")
    assert tf.io.read_file("a").numpy() == b"old"


def test_files_in_a_graph_are_read_when_it_runs(folder):
    @tf.function
    def both(text: Any) -> Any:
        before = tf.io.read_file("a")
        tf.io.write_file("a", text)
        return before, tf.io.read_file("a")

    tf.io.write_file("a", "0")
    for new in ("1", "2"):
        before, after = both(tf.constant(new))
        assert (before.numpy(), after.numpy()) == (str(int(new) - 1).encode(), new.encode())
    assert both(tf.constant("3"))[0].numpy() == b"2"


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: tf.io.read_file("no"), "NotFoundError", "no; No such file or directory"),
        (lambda: tf.io.read_file(["a"]), "InvalidArgumentError", "had shape: [1]"),
        (lambda: tf.io.write_file(["a"], ""), "InvalidArgumentError", "filename tensor"),
        (lambda: gfile.listdir("no"), "NotFoundError", "Could not find directory no"),
        (lambda: gfile.mkdir("no/a"), "NotFoundError", "no/a; No such file"),
        (lambda: gfile.remove("no"), "NotFoundError", "no; No such file"),
        (lambda: gfile.remove("."), "FailedPreconditionError", "Is a directory"),
        (lambda: gfile.makedirs("f"), "FailedPreconditionError", "f is not a directory"),
        (lambda: gfile.copy("f", "f"), "AlreadyExistsError", "file already exists"),
        (lambda: gfile.copy("no", "g"), "NotFoundError", "no; No such file"),
        (lambda: gfile.rename("f", "f"), "AlreadyExistsError", "file already exists"),
        (lambda: gfile.rename("no", "g"), "NotFoundError", "no; No such file"),
        (lambda: gfile.rmtree("no"), "NotFoundError", "no not found"),
        (lambda: gfile.stat("no"), "NotFoundError", "no; No such file"),
        (lambda: gfile.GFile("f", "q"), "InvalidArgumentError", "mode is not"),
        (lambda: gfile.GFile("f").write("a"), "PermissionDeniedError", "open for writing"),
        (lambda: gfile.GFile("f", "a").read(), "PermissionDeniedError", "for reading"),
        (lambda: gfile.GFile("f").seek(-1), "InvalidArgumentError", "negative position"),
        (lambda: gfile.GFile("f").seek(99), "OutOfRangeError", "end of file"),
        (lambda: gfile.GFile("f").seek(0, 5), "InvalidArgumentError", "whence argument"),
        (lambda: gfile.exists("foo://a/b"), "UnimplementedError", "scheme 'foo' not"),
    ],
)
def test_errors(folder, call, kind, phrase):
    tf.io.write_file("f", "text")
    with pytest.raises(getattr(tf.errors, kind)) as caught:
        call()
    assert phrase in str(caught.value)


def test_patterns(folder):
    for name in ("f.txt", "g.txt", "b/h.txt", "b/c/i.txt"):
        tf.io.write_file(name, "")
    # A pattern whose first part has wildcards gives names that begin with "./".
    assert gfile.glob("*.txt") == ["./f.txt", "./g.txt"]
    assert gfile.glob("**/*.txt") == ["./b/h.txt"]
    assert gfile.glob(["b/*", "no*"]) == ["b/c", "b/h.txt"]
    assert tf.io.matching_files(["*.txt", "b/*.txt"]).numpy().tolist() == [
        b"./f.txt",
        b"./g.txt",
        b"b/h.txt",
    ]
    once = tf.io.match_filenames_once("[f]*")
    tf.io.write_file("fresh", "")
    assert once.numpy().tolist() == [b"./f.txt"]


def test_walk(folder):
    for name in ("f.txt", "b/h.txt", "b/c/i.txt"):
        tf.io.write_file(name, "")
    down = [(".", ["b"], ["f.txt"]), ("./b", ["c"], ["h.txt"]), ("./b/c", [], ["i.txt"])]
    assert list(gfile.walk(".")) == down
    assert list(gfile.walk(".", topdown=False)) == down[::-1]
    failed: list[Any] = []
    assert list(gfile.walk("no", onerror=failed.append)) == []
    assert isinstance(failed[0], tf.errors.NotFoundError)


def test_moving_and_removing(folder):
    tf.io.write_file("a", "one")
    tf.io.write_file("b", "two")
    gfile.rename("a", "b", overwrite=True)
    assert (gfile.exists("a"), tf.io.read_file("b").numpy()) == (False, b"one")
    gfile.copy("b", "c")
    assert gfile.stat("c").length == 3
    gfile.rmtree("c")
    assert gfile.listdir(".") == ["b"]


def test_join():
    assert gfile.join("a", "b", "/c") == "/c"
    assert gfile.join("gs://x", "b", "c") == "gs://x/b/c"
    assert gfile.join(b"a", b"b") == b"a/b"
    with pytest.raises(TypeError, match="mix strings and bytes"):
        gfile.join("a", b"b")


def test_a_file_is_opened_when_it_is_used(folder):
    with gfile.GFile("a", "w"):
        pass
    assert not gfile.exists("a")
    with gfile.GFile("a", "w") as file:
        file.write("hé\n")
        assert (file.size(), file.tell()) == (0, 4)
        file.flush()
        assert file.size() == 4
    with gfile.GFile("a", "a") as file:
        file.write("more")
    with gfile.GFile("a") as file:
        assert [file.readline(), file.readline(), file.readline()] == ["hé\n", "more", ""]
        file.seek(1, 0)
        file.seek(-4, 2)
        assert (file.tell(), file.read(2), file.read()) == (4, "mo", "re")
    with gfile.GFile("a", "rb") as file:
        assert list(file) == ["hé\n".encode(), b"more"]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records(folder, compression):
    with tf.io.TFRecordWriter("r", compression) as file:
        file.write(b"one")
        file.flush()
        file.write("zwei")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
        file.write(b"more")
    read = tf.data.TFRecordDataset("r", compression_type=compression)
    assert [r.numpy() for r in read] == [b"one", b"zwei"]
    head = (folder / "r").read_bytes()
    unpacked = {"GZIP": gzip.decompress, "ZLIB": zlib.decompress}.get(compression, bytes)
    assert unpacked(head)[:8] == (3).to_bytes(8, "little")


def test_options_of_records(folder):
    sizes: list[int] = []
    for level in (0, 9):
        options = tf.io.TFRecordOptions("ZLIB", compression_level=level)
        with tf.io.TFRecordWriter("r", options) as file:
            file.write(b"a" * 1000)
        sizes.append(gfile.stat("r").length)
    assert sizes[1] < sizes[0] / 5
    with pytest.raises(ValueError, match='Not a valid compression_type: "FOO"'):
        tf.io.TFRecordOptions("FOO")
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.TFRecordWriter("no/r")


def test_write_graph(folder):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="c")
    path = tf.io.write_graph(graph, "logs", "g.pbtxt")
    assert path == "logs/g.pbtxt" and 'name: "c"' in gfile.GFile(path).read()
    path = tf.io.write_graph(graph.as_graph_def(), "logs", "g.pb", as_text=False)
    message = type(graph.as_graph_def()).FromString(gfile.GFile(path, "rb").read())
    assert message.node[0].name == "c"


def test_other_machines_through_fsspec(folder):
    pytest.importorskip("fsspec")
    path = "ram://tests/one/a.txt"
    tf.io.write_file(path, "text")
    assert tf.io.read_file(path).numpy() == b"text"
    assert gfile.isdir("ram://tests/one") and not gfile.isdir(path)
    assert gfile.listdir("ram://tests/one") == ["a.txt"]
    assert gfile.glob("ram://tests/one/*.txt") == [path]
    gfile.copy(path, "here.txt")
    assert tf.io.read_file("here.txt").numpy() == b"text"
    gfile.rename("here.txt", "ram://tests/one/b.txt")
    assert not gfile.exists("here.txt")
    assert [n for _, _, names in gfile.walk("ram://tests") for n in names] == ["a.txt", "b.txt"]
    with gfile.GFile("ram://tests/c", "w") as file:
        file.write("line\n")
    assert gfile.GFile("ram://tests/c").readlines() == ["line\n"]
    assert gfile.stat("ram://tests/c").length == 5
    with tf.io.TFRecordWriter("ram://tests/r") as records:
        records.write(b"one")
    assert [r.numpy() for r in tf.data.TFRecordDataset("ram://tests/r")] == [b"one"]
    gfile.rmtree("ram://tests")
    assert not gfile.exists(path)
    with pytest.raises(tf.errors.NotFoundError):
        gfile.remove(path)


def test_local_files_do_not_import_fsspec():
    code = (
        "import sys; from intaglio import tf; tf.io.gfile.exists('/'); "
        "tf.io.gfile.GFile('/no'); print('fsspec' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
