"""Machine code on disk: found again, never trusted when damaged, never too much of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from intaglio.native.llvm import compiler, jit, object_cache


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    folder = tmp_path / "code"
    monkeypatch.setenv("INTAGLIO_CACHE", str(folder))
    return folder


def test_what_was_written_is_read(place):
    name = object_cache.name_of("text", "cpu")
    assert object_cache.read(name) is None
    object_cache.write(name, b"code")
    assert object_cache.read(name) == b"code"
    assert [p.suffix for p in place.iterdir()] == [".o"]


@pytest.mark.parametrize(
    "damage", [lambda c: c[:-1], lambda c: b"", lambda c: c[:40] + b"\0" + c[41:]]
)
def test_what_is_damaged_is_not_there(place, damage):
    name = object_cache.name_of("text")
    object_cache.write(name, b"some longer code that is to be damaged")
    path = place / f"{name}.o"
    path.write_bytes(damage(path.read_bytes()))
    assert object_cache.read(name) is None
    object_cache.write(name, b"code")
    assert object_cache.read(name) == b"code"


def test_code_under_the_name_of_other_code_is_not_there(place):
    texts = [
        f"define double @f(double %x) {{\n %y = {op} double %x, 3.0\n ret double %y\n}}\n"
        for op in ("fadd", "fmul")
    ]
    code = [jit.compiled(text) for text in texts]
    first, second = sorted(place.glob("*.o"))
    swapped = {first: second.read_bytes(), second: first.read_bytes()}
    for path, content in swapped.items():
        path.write_bytes(content)
        assert object_cache.read(path.stem) is None
    assert [jit.compiled(text) for text in texts] == code  # compiled anew


def test_everything_that_code_depends_on_is_in_its_name():
    assert object_cache.name_of("a", "b") != object_cache.name_of("ab", "")
    assert (
        len({object_cache.name_of("a"), object_cache.name_of("b"), object_cache.name_of("a", "b")})
        == 3
    )


def test_an_empty_name_disables_it(monkeypatch):
    monkeypatch.setenv("INTAGLIO_CACHE", "")
    object_cache.write("0" * 64, b"code")
    assert object_cache.folder() is None
    assert object_cache.read("0" * 64) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions as POSIX has them")
def test_a_folder_that_others_may_write_to_is_not_used(place):
    place.mkdir()
    place.chmod(0o777)
    assert object_cache.folder() is None


def test_the_folder_does_not_grow_for_ever(place):
    for i in range(10):
        object_cache.write(object_cache.name_of(str(i)), bytes(1000))
        os.utime(place / f"{object_cache.name_of(str(i))}.o", (i, i))
    object_cache.shrink(place, most=3200)
    left = {p.name for p in place.iterdir()}
    assert left == {f"{object_cache.name_of(str(i))}.o" for i in (7, 8, 9)}


def test_processes_may_write_the_same_code_at_once():
    name = object_cache.name_of("shared")
    code = bytes(range(256)) * 100
    wrong = []

    def work():
        for _ in range(50):
            object_cache.write(name, code)
            if object_cache.read(name) != code:
                wrong.append(True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_another_process_runs_what_this_one_compiled(place):
    program = (
        "import os, pathlib\n"
        "from intaglio import tf\n"
        "f = tf.function(lambda x: tf.exp(x) * 2.0 + x, jit_compile=True)\n"
        "files = pathlib.Path(os.environ['INTAGLIO_CACHE'])\n"
        "print(f(tf.zeros([3])).numpy(), sorted(p.name for p in files.iterdir()))\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.startswith("[2. 2. 2.] ")


def test_compiling_twice_reads_the_second_time(monkeypatch):
    text = "define i64 @f() {\n  ret i64 7\n}\n"
    first = jit.compiled(text)
    monkeypatch.setattr(compiler, "machine", lambda *_: pytest.fail("compiled again"))
    assert jit.compiled(text) == first
