"""Systems that lack something: no executable memory, no futex, one thread; several processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.llvm import compiler, jit, library, object_cache

PROGRAM = """
import numpy as np
from intaglio import tf

rng = np.random.default_rng(0)
x, w = (tf.constant(rng.normal(size=s).astype("f4")) for s in ((300, 200), (200, 400)))

@tf.function(jit_compile=True)
def work(x, w):
    h = tf.tanh(tf.matmul(x, w)) * 1.5
    for _ in range(3):
        h = h * 0.5 + tf.reduce_sum(h, 0) / 300.0
    return tf.nn.softmax(h), tf.reduce_sum(h), tf.cumsum(h, 1), tf.argmax(h, 1), tf.transpose(h) + 1.0

for made in work(x, w):
    print(hash(made.numpy().tobytes()))
"""


def output(program, **environment):
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0", **environment},
    )
    assert run.returncode == 0, run.stderr
    return run


# -- memory ---------------------------------------------------------------------------------

FORBIDDING = """
import ctypes, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
    sys.exit(77)
from intaglio import tf
for _ in range(2):
    f = tf.function(lambda x: tf.exp(x) * 2.0 + x, jit_compile=True)
    print(f(tf.zeros([2])).numpy())
print("interpreted" in f.compile_report(), float((tf.ones([400, 400]) @ tf.ones([400, 400]))[0, 0]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a system that forbids it")
def test_without_executable_memory_functions_are_interpreted_which_is_logged_once():
    run = subprocess.run([sys.executable, "-c", FORBIDDING], capture_output=True, text=True)
    if run.returncode == 77:
        pytest.skip("a kernel that cannot forbid it")
    assert run.stdout == "[2. 2.]\n[2. 2.]\nTrue 400.0\n", run.stderr
    assert run.stderr.count("forbids memory") == 1
    assert "pip install" not in run.stderr


# -- threads --------------------------------------------------------------------------------

FEWER = "from intaglio import tf\ntf.config.threading.set_intra_op_parallelism_threads({})\n"
LOCKS = "from intaglio.native.runtime import thread_pool\nthread_pool.FUTEX = None\n"


def test_results_do_not_depend_on_the_number_of_threads_nor_on_futexes():
    wanted = output(FEWER.format(1) + PROGRAM).stdout
    for before in (FEWER.format(2), FEWER.format(5), FEWER.format(3) + LOCKS):
        assert output(before + PROGRAM).stdout == wanted


def test_the_pool_has_the_size_that_the_program_sets():
    program = (
        "from intaglio.native.runtime import thread_pool\n"
        "made = thread_pool.pool()\n"
        "print(made.workers if made else 0)"
    )
    for threads in (1, 2, 4):
        for before in ("", LOCKS):
            printed = output(FEWER.format(threads) + before + program).stdout
            assert int(printed) == threads - 1


def test_other_threads_run_while_native_code_does():
    @tf.function(jit_compile=True)
    def long(x):
        for _ in tf.range(3000):
            x = tf.tanh(x) * 1.01
        return x

    x = tf.ones([20_000])
    long(x)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)  # passes the interpreter's lock to a waiting thread

    # No thread is made to give the lock away: the other one counts only while it is released.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e3)
    other = threading.Thread(target=count)
    other.start()
    try:
        before = counted[0]
        long(x)
        during = counted[0] - before
    finally:
        done.set()
        sys.setswitchinterval(interval)
        other.join()
    assert during > 10


# -- code on disk ---------------------------------------------------------------------------


def test_processes_that_write_at_once_read_whole_files(tmp_path):
    program = (
        "import sys\n"
        "from intaglio.native.llvm import object_cache\n"
        "code = bytes(range(256)) * 400\n"
        "name = object_cache.name_of('shared')\n"
        "for _ in range(100):\n"
        "    object_cache.write(name, code)\n"
        "    assert object_cache.read(name) == code\n"
    )
    environment = dict(os.environ, INTAGLIO_CACHE=str(tmp_path))
    runs = [subprocess.Popen([sys.executable, "-c", program], env=environment) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert [p.suffix for p in tmp_path.iterdir()] == [".o"]


def test_code_for_another_processor_or_version_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("INTAGLIO_CACHE", str(tmp_path))
    text = "define i64 @f() {\n  ret i64 7\n}\n"
    jit.compiled(text)
    read = []
    kept = object_cache.read
    monkeypatch.setattr(object_cache, "read", lambda name: read.append(kept(name)) or read[-1])
    jit.compiled(text)
    assert read[-1] is not None
    monkeypatch.setattr(jit, "IDENTITY", "another")
    monkeypatch.setattr(library, "library", lambda: None)
    monkeypatch.setattr(compiler, "machine", lambda *_: Machine())
    assert jit.compiled(text) == b"other"
    assert read[-1] is None
    assert len(list(tmp_path.iterdir())) == 2


IDENTITY = "from intaglio.native.llvm import processor\nprint(processor.IDENTITY, processor.WIDTH)"
NEWER = """
import importlib.util, pathlib, sys, tempfile, types
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "binding").mkdir()
(folder / "binding" / "libllvmlite.so").touch()
(folder / "_version.py").write_text("version_version = '0.99.1'")
spec = types.SimpleNamespace(origin=str(folder / "__init__.py"))
found = importlib.util.find_spec
importlib.util.find_spec = lambda name: spec if name == "llvmlite" else found(name)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="as Linux tells of processors")
def test_code_is_named_by_what_it_depends_on():
    said = [
        output(IDENTITY).stdout,
        output(IDENTITY, INTAGLIO_VECTOR_BYTES="16").stdout,
        output(NEWER + IDENTITY).stdout if jit.MACHINE == "x86_64" else "",
    ]
    assert len(set(said)) == 3
    assert output(IDENTITY).stdout == said[0]


class Machine:
    """Stands for the machine of another processor."""

    def emit_object(self, parsed):
        return b"other"


def test_a_damaged_file_is_compiled_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("INTAGLIO_CACHE", str(tmp_path))
    program = "from intaglio import tf\nprint(tf.function(lambda x: tf.exp(x) * 2.0, jit_compile=True)(tf.zeros([2])).numpy())"
    assert output(program).stdout == "[2. 2.]\n"
    for path in tmp_path.glob("*.o"):
        path.write_bytes(path.read_bytes()[:-100] + bytes(100))
    assert output(program).stdout == "[2. 2.]\n"


def test_abandoned_partial_files_are_deleted(tmp_path):
    old, new = tmp_path / "a.partial", tmp_path / "b.partial"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    object_cache.shrink(tmp_path)
    assert not old.exists()
    assert new.exists()


# -- after a fork ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_compiled_functions_run_after_a_fork():
    f = tf.function(lambda x: tf.tanh(x) * 2.0 + tf.reduce_sum(x, 0), jit_compile=True)
    x = tf.constant(np.random.default_rng(0).normal(size=(300, 300)).astype("f4"))
    wanted = f(x).numpy()
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(f(x).numpy(), wanted) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_fork_waits_for_threads_that_compile():
    holds, done = threading.Event(), threading.Event()

    def compiling():
        with compiler.LOCK:
            holds.set()
            time.sleep(0.2)
            done.set()

    thread = threading.Thread(target=compiling)
    thread.start()
    holds.wait()
    child = os.fork()
    if not child:
        os._exit(0 if done.is_set() and compiler.LOCK.acquire(timeout=1) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()
    assert compiler.LOCK.acquire(blocking=False)
    compiler.LOCK.release()
