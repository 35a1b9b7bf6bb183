"""Machine code that comes with the package: whole archives are read, and give the bits of compiled code."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio.base.hooks import HOOKS
from intaglio.native.llvm import jit, object_cache, prepared, processor
from intaglio.opdef import raw
from intaglio.ops import compiled
from intaglio.tools import preparation

DECLARED = [
    op for op in raw.catalogue().values() if op.compiled_when_large or op.compiled_when_complex
]
TEXT = "define i64 @f() {\n  ret i64 7\n}\n"


@given(st.dictionaries(st.binary(min_size=32, max_size=32), st.binary(max_size=300), max_size=9))
def test_an_archive_has_what_was_written(objects):
    assert prepared.objects_of(prepared.written(objects)) == objects


@given(st.integers(0, 39), st.integers(1, 255))
def test_a_damaged_head_is_refused(at, change):
    archive = bytearray(prepared.written({b"k" * 32: b"code"}))
    archive[at] ^= change
    with pytest.raises(ValueError, match="no archive"):
        prepared.objects_of(bytes(archive))


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """The archive of this processor, with one module; nothing else is on disk."""
    monkeypatch.setattr(prepared, "FOLDER", str(tmp_path / "prepared"))
    monkeypatch.setattr(processor, "PREPARED", "some")
    monkeypatch.setenv("INTAGLIO_CACHE", "")
    (tmp_path / "prepared").mkdir()
    path = pathlib.Path(prepared.path_of("some"))
    path.write_bytes(prepared.written({prepared.key_of(TEXT, 1): b"prepared code"}))
    prepared._index.cache_clear()
    yield path
    prepared._index.cache_clear()


def test_prepared_code_is_taken_before_anything_is_compiled(archive):
    assert jit.compiled(TEXT, 1) == b"prepared code"
    assert jit.compiled(TEXT, 2) != b"prepared code"
    assert jit.compiled(TEXT.replace("7", "8"), 1) != b"prepared code"


def test_code_on_disk_comes_first(archive, monkeypatch):
    monkeypatch.setattr(object_cache, "read", lambda name: b"own code")
    assert jit.compiled(TEXT, 1) == b"own code"


@pytest.mark.parametrize("damage", [lambda c: c[:-1] + b"\0", lambda c: c[:50], lambda c: b""])
def test_damaged_code_is_compiled(archive, damage):
    archive.write_bytes(damage(archive.read_bytes()))
    assert jit.compiled(TEXT, 1)[:4] != b"prep"


PROGRAM = """
import sys
import numpy as np
from intaglio import tf
rng = np.random.default_rng(0)

def normal(dtype, *shape):
    return tf.cast(tf.constant(rng.normal(size=shape).astype("f4")), dtype)

for dtype in (tf.float32, tf.float64, tf.bfloat16):
    x, w = normal(dtype, 3, 40, 40, 16), normal(dtype, 3, 3, 4, 24)
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.tanh(tf.nn.conv2d(x, w, 1, "SAME"))
    results = [y, *tape.gradient(y, [x, w]), tf.nn.softmax(x, -1), tf.reduce_sum(x, 0)]
    a = normal(dtype, 300, 200)
    results += [tf.matmul(a, a, transpose_b=True), tf.exp(a), tf.math.log(tf.abs(a))]
    if dtype != tf.bfloat16:
        z = tf.complex(a, a + 1.0)
        results += [tf.exp(z), tf.math.log(z), tf.tanh(z)]
    print([hash(r.numpy().tobytes()) for r in results])
print("libllvmlite" in open("/proc/self/maps").read())
"""
COLLECT = """
import pathlib, sys
from intaglio.base import later
from intaglio.native.llvm import prepared
from intaglio.opdef import raw
from intaglio.ops import compiled
from intaglio.tools import preparation
preparation.calls = lambda: iter([lambda: exec(compile(sys.argv[2], "program", "exec"), {})])
pathlib.Path(sys.argv[1]).write_bytes(prepared.written(preparation.collected()))
"""


def run(*arguments, **environment):
    own = {"PYTHONHASHSEED": "0", "INTAGLIO_CACHE": "", "INTAGLIO_PREPARED": ""}
    done = subprocess.run(
        [sys.executable, "-c", *arguments],
        capture_output=True, text=True, env={**os.environ, **own, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


WIDTHS = {"x86-64-v3": "32", "x86-64-v4": "64", "x86-64-v4-znver": "64"}


@pytest.mark.skipif(jit.MACHINE != "x86_64" or sys.platform != "linux", reason="levels of x86-64")
@pytest.mark.parametrize("archive", preparation.ARCHIVES)
def test_code_of_a_level_gives_the_bits_of_code_for_the_processor(archive, tmp_path):
    """The archive of a processor which this one is not may be tested if it has its level."""
    width = WIDTHS[archive]
    there = run(
        "from intaglio.native.llvm import processor; print(processor.PREPARED)",
        INTAGLIO_VECTOR_BYTES=width,
    )
    if there != [archive]:
        pytest.skip("another processor")
    compiled = run(PROGRAM, INTAGLIO_VECTOR_BYTES=width)
    path = tmp_path / f"{archive}.objects"
    run(COLLECT, str(path), PROGRAM, INTAGLIO_PROCESSOR=preparation.ARCHIVES[archive])
    loaded = run(PROGRAM, INTAGLIO_VECTOR_BYTES=width, INTAGLIO_PREPARED=str(tmp_path))
    assert loaded[:-1] == compiled[:-1]
    assert [compiled[-1], loaded[-1]] == ["True", "False"]


def test_what_is_prepared_has_every_family():
    called = 0
    for call in preparation.calls():
        called += 1
        if called % 40 == 0:
            call()
    assert called > 150


def test_all_declared_functions_are_prepared(monkeypatch):
    """Each op asks for its kernels; none of the calls is refused."""
    asked = set[tuple[str, str]]()

    def select(kind, op, *dtypes):
        dtype = dtypes[0][0].name if dtypes else "float64" if "double" in kind else "float32"
        asked.add((op.name, dtype))

    monkeypatch.setattr(HOOKS, "select_kernel", select)
    for call in preparation._declared():
        call()
    for op in DECLARED:
        wanted = {d.name for d in compiled.machine_dtypes(op)} if op.compiled_when_large else set()
        if op.compiled_when_complex:
            wanted |= {"complex64", "complex128"}
        assert {dtype for name, dtype in asked if name == op.name} >= wanted, op.name
