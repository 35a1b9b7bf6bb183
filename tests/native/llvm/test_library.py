"""LLVM's library, called without llvmlite's modules: the same object files and errors as through them."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("llvmlite", reason="pip install 'intaglio[jit]'")

from intaglio.native.llvm import compiler, jit, library, processor

if library.library() is None:
    pytest.skip("llvmlite's modules compile here", allow_module_level=True)

VALID = """
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
define void @f(ptr %x, ptr %y) {
  %a = load <8 x float>, ptr %x, align 4
  %b = call <8 x float> @llvm.fma.v8f32(<8 x float> %a, <8 x float> %a, <8 x float> %a)
  store <8 x float> %b, ptr %y, align 4
  ret void
}
"""
INVALID = {
    "syntax": "define void @f() {\n  nothing\n}\n",
    "types": "define i64 @f(float %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n",
    "verifier": "define i64 @f() {\n  br label %a\na:\n  %x = add i64 %y, 1\n"
    "  %y = add i64 %x, 1\n  ret i64 %y\n}\n",
}


def loaded() -> library.Library:
    found = library.library()
    assert found is not None
    return found


def by_modules(text: str, effort: int) -> bytes:
    with compiler.LOCK:
        machine = compiler.machine(effort, *processor.for_compiler())
        return compiler.emitted(text, machine, optimised=False)


def test_it_describes_the_processor_as_llvmlite_does():
    described = compiler.describe()
    assert loaded().host() == (described.cpu, described.features)


@pytest.mark.parametrize("effort", [jit.GLUE_EFFORT, jit.KERNEL_EFFORT])
def test_the_object_file_is_that_of_llvmlite(effort: int):
    found = loaded().emitted(VALID, effort, *processor.for_compiler())
    assert found == by_modules(VALID, effort)
    assert found == loaded().emitted(VALID, effort, *processor.for_compiler())  # machines are kept


@pytest.mark.parametrize("kind", INVALID)
def test_an_invalid_module_raises_what_llvmlite_raises(kind: str):
    with pytest.raises(RuntimeError) as expected:
        by_modules(INVALID[kind], jit.KERNEL_EFFORT)
    with pytest.raises(RuntimeError) as found:
        loaded().emitted(INVALID[kind], jit.KERNEL_EFFORT, *processor.for_compiler())
    assert str(found.value) == str(expected.value)
    loaded().emitted(VALID, jit.KERNEL_EFFORT, *processor.for_compiler())


def test_an_unknown_processor_is_compiled_for_as_llvmlite_does():
    found = loaded().emitted(VALID, jit.KERNEL_EFFORT, "x86-64-v3", "")
    with compiler.LOCK:
        machine = compiler.machine(jit.KERNEL_EFFORT, "x86-64-v3", "")
        assert found == compiler.emitted(VALID, machine, optimised=False)


def test_threads_compile_beside_users_of_llvmlite():
    texts = [VALID.replace("@f", f"@f{n}") for n in range(24)]
    expected = [by_modules(t, jit.KERNEL_EFFORT) for t in texts]
    own = processor.for_compiler()
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(loaded().emitted, t, jit.KERNEL_EFFORT, *own) for t in texts]
        beside = [by_modules(t, jit.KERNEL_EFFORT) for t in texts]
        assert [f.result() for f in futures] == expected == beside


def test_of_other_releases_llvmlites_modules_are_used(monkeypatch: pytest.MonkeyPatch):
    unknown = processor.installed()._replace(release=(99, 0))
    monkeypatch.setattr(processor, "installed", lambda: unknown)
    assert library.library.__wrapped__() is None


def test_a_file_that_is_no_library_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path):
    (tmp_path / "binding").mkdir()
    (tmp_path / "binding" / "libllvmlite.so").write_bytes(b"no library")
    damaged = processor.installed()._replace(folder=str(tmp_path))
    monkeypatch.setattr(processor, "installed", lambda: damaged)
    assert library.library.__wrapped__() is None


COMPILED = """
import sys
from intaglio import tf
f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * 3.0, 1), jit_compile=True)
print(f(tf.ones([30, 20])).shape, "llvmlite" in sys.modules)
"""


def test_a_function_is_compiled_without_importing_llvmlite(tmp_path, monkeypatch):
    monkeypatch.setenv("INTAGLIO_CACHE", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["(30,)", "False"]
