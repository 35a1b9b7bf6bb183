"""Object files loaded without LLVM: the same results as when LLVM loads them, and what is refused."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio.native.llvm import compiler, jit, loader, processor

pytestmark = pytest.mark.skipif(
    jit.MACHINE != "x86_64" or sys.platform != "linux", reason="LLVM loads the files of others"
)

WHOLE = """
@table = internal constant [4 x i64] [i64 3, i64 5, i64 7, i64 11], align 64
@counter = internal global i64 40
@nothing = internal global [100 x i64] zeroinitializer
@names = internal constant [2 x ptr] [ptr @twice, ptr @thrice]
@outside = external constant [2 x i64]
declare double @fmod(double, double)

define internal i64 @twice(i64 %x) {
  %y = mul i64 %x, 2
  ret i64 %y
}
define internal i64 @thrice(i64 %x) {
  %y = mul i64 %x, 3
  ret i64 %y
}
define i64 @prime(i64 %i) {
  %at = getelementptr i64, ptr @table, i64 %i
  %x = load i64, ptr %at
  ret i64 %x
}
define i64 @count() {
  %x = load i64, ptr @counter
  %y = add i64 %x, 1
  store i64 %y, ptr @counter
  ret i64 %y
}
define i64 @zero(i64 %i) {
  %at = getelementptr i64, ptr @nothing, i64 %i
  %x = load i64, ptr %at
  ret i64 %x
}
define i64 @chosen(i64 %i, i64 %x) {
  %at = getelementptr ptr, ptr @names, i64 %i
  %f = load ptr, ptr %at
  %y = call i64 %f(i64 %x)
  ret i64 %y
}
define i64 @elsewhere(i64 %i) {
  %at = getelementptr i64, ptr @outside, i64 %i
  %x = load i64, ptr %at
  ret i64 %x
}
define double @remainder_of(double %x, double %y) {
  %z = call double @fmod(double %x, double %y)
  ret double %z
}
"""
OUTSIDE = (ctypes.c_int64 * 2)(123, 456)
SYMBOLS = {"outside": ctypes.addressof(OUTSIDE)}


def loaded_both_ways(text):
    """The addresses that the loader gives, and those that LLVM gives."""
    machine = compiler.machine(jit.KERNEL_EFFORT, *processor.for_compiler())
    code = compiler.emitted(text, machine, optimised=False)
    image = loader.load(code, SYMBOLS)
    engine = compiler.loaded(code, machine, SYMBOLS)
    return image.address, engine, (image, engine)


def integers(address, *arguments):
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))(address)(*arguments)


def test_code_constants_data_and_references_are_in_their_places():
    ways = loaded_both_ways(WHOLE)
    for address in ways[:2]:
        assert [integers(address("prime"), i) for i in range(4)] == [3, 5, 7, 11]
        assert [integers(address("count")) for _ in range(3)] == [41, 42, 43]
        assert not any(integers(address("zero"), i) for i in range(100))
        assert [integers(address("chosen"), i, 7) for i in (0, 1)] == [14, 21]
        assert integers(address("thrice"), 5) == 15
        assert [integers(address("elsewhere"), i) for i in (0, 1)] == [123, 456]
        pair = ctypes.c_double, ctypes.c_double
        remainder = ctypes.CFUNCTYPE(ctypes.c_double, *pair)(address("remainder_of"))
        assert remainder(7.5, 2.0) == 1.5


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(("fadd", "fsub", "fmul", "fdiv")), st.floats(-4, 4, width=32)),
        min_size=1,
        max_size=12,
    )
)
def test_random_code_gives_the_same_bits_as_where_llvm_loads_it(steps):
    lines = ["%v0 = load <16 x float>, ptr %in, align 4"]
    for n, (op, number) in enumerate(steps):
        bits = np.float32(number).astype(np.float64).view(np.int64)
        constant = f"splat (float {int(bits) & (1 << 64) - 1:#018x})"
        lines.append(f"%v{n + 1} = {op} <16 x float> %v{n}, {constant}")
    lines += [f"store <16 x float> %v{len(steps)}, ptr %out, align 4", "ret void"]
    body = "\n  ".join(lines)
    text = f"define void @f(ptr %in, ptr %out) {{\n  {body}\n}}\n"
    given_ = np.linspace(-3, 3, 16, dtype=np.float32)
    results = []
    *ways, _keep = loaded_both_ways(text)
    for address in ways:
        out = np.zeros(16, np.float32)
        pointers = ctypes.c_void_p, ctypes.c_void_p
        ctypes.CFUNCTYPE(None, *pointers)(address("f"))(given_.ctypes.data, out.ctypes.data)
        results.append(out.tobytes())
    assert results[0] == results[1]


def object_of(text, triple_machine=None):
    machine = triple_machine or compiler.machine(jit.KERNEL_EFFORT, *processor.for_compiler())
    return compiler.emitted(text, machine, optimised=False)


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"\x7fELF\x02\x01\x01",
        b"MZ" + bytes(200),
        object_of("define i64 @f() {\n ret i64 1\n}\n")[:300],
        object_of("declare i64 @no_such_name_anywhere()\n"
                  "define i64 @f() {\n %x = call i64 @no_such_name_anywhere()\n ret i64 %x\n}\n"),
        object_of("@x = thread_local global i64 1\n"
                  "define i64 @f() {\n %x = load i64, ptr @x\n ret i64 %x\n}\n"),
        object_of("define i64 @f() {\n ret i64 1\n}\n").replace(b"\x3e\x00", b"\xb7\x00", 1),
    ],
    ids=["empty", "cut", "other format", "cut later", "unknown name", "thread-local", "machine"],
)  # fmt: skip
def test_what_it_does_not_know_is_refused(code):
    with pytest.raises(loader.Unsupported):
        loader.load(code, {})


def test_what_it_refuses_llvm_loads(monkeypatch):
    def refused(code, symbols):
        raise loader.Unsupported("on purpose")

    monkeypatch.setattr(loader, "load", refused)
    module = jit.Module("define i64 @f() {\n  ret i64 77\n}\n")
    assert integers(module.address("f")) == 77


WITHOUT_LLVM = """
import sys
import numpy as np
from intaglio import tf
rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(4, 32, 32, 16)).astype("f4"))
w = tf.constant(rng.normal(size=(3, 3, 16, 32)).astype("f4"))
with tf.GradientTape() as tape:
    tape.watch(w)
    y = tf.nn.conv2d(x, w, 1, "SAME")
print(hash(y.numpy().tobytes()), hash(tape.gradient(y, w).numpy().tobytes()))
print("libllvmlite" in open("/proc/self/maps").read())
"""


def test_a_process_whose_code_is_on_disk_does_not_load_llvm(tmp_path):
    environment = {**os.environ, "INTAGLIO_CACHE": str(tmp_path), "PYTHONHASHSEED": "0"}
    environment["INTAGLIO_PREPARED"] = ""
    runs = [
        subprocess.run(
            [sys.executable, "-c", WITHOUT_LLVM],
            capture_output=True, text=True, check=True, env=environment,
        ).stdout.splitlines()
        for _ in range(2)
    ]  # fmt: skip
    assert runs[0][0] == runs[1][0]
    assert [run[1] for run in runs] == ["True", "False"]


@pytest.mark.skipif(jit.MACHINE != "x86_64", reason="processors of x86-64")
def test_what_the_system_says_of_the_processor_is_what_llvm_says():
    known = dict(compiler.describe().features)
    levels = {f for _, features in processor._LEVELS.values() for f in features}
    for name in [*levels, "crc32", "amx-tile", "amx-bf16", "amx-int8"]:
        assert processor.has_feature(name) == bool(known.get(name)), name
    assert (processor.NAME.startswith("znver") and processor.WIDTH == 64) == (
        compiler.describe().cpu.startswith("znver") and processor.WIDTH == 64
    )
