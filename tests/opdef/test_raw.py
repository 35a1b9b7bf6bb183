"""Families of ops that are imported when needed; ops whose kernels are looked at when needed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from intaglio import tf
from intaglio.opdef import raw
from intaglio.opdef.op import Op


def test_families_declare_what_they_are_expected_to():
    """The table of families to import names each op of theirs, and only those."""
    declared = {n: type(op).__module__ for n, op in raw.catalogue().items()}
    expected = raw._homes
    late = set(expected.values())
    assert expected == {n: home for n, home in declared.items() if home in late}


def test_the_error_for_an_unknown_op_has_a_hint():
    with pytest.raises(AttributeError, match=r"no op named 'Nope'; docs/coverage.md"):
        raw.Nope  # noqa: B018


def test_the_catalogue_is_complete_on_request():
    code = (
        "from intaglio.opdef import raw; from intaglio import tf; "
        "print(sorted(dir(raw)) == sorted(n for n in raw.catalogue() if n[0] != '_'))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"


def test_how_a_kernel_is_called_is_worked_out_once():
    """Though threads ask at once, while one of them is at it."""
    asked, begun = [], threading.Event()

    class Slow(Op):
        signature = "x: float32 -> y: float32"

        def kernel(self, x):
            return x

        def _resolve_kernel(self):
            asked.append(threading.get_ident())
            self.kernel_fn = None  # not yet what it will be
            begun.set()
            time.sleep(0.05)
            super()._resolve_kernel()

    op = Slow()
    thread = threading.Thread(target=lambda: op.plain)
    thread.start()
    begun.wait(10)
    assert op.kernel_fn(3) == 3
    thread.join()
    assert len(asked) == 1


def test_threads_wait_until_a_family_is_whole(tmp_path, monkeypatch):
    """An op is declared before what follows it in its file."""
    (tmp_path / "slow_family.py").write_text(
        "import time\n"
        "from intaglio.opdef.op import Op, op\n"
        "@op\n"
        "class FromSlowFamily(Op):\n"
        "    signature = 'x: float32 -> y: float32'\n"
        "    def kernel(self, x):\n"
        "        return below(x)\n"
        "declared.set()\n"
        "time.sleep(0.05)\n"
        "def below(x):\n"
        "    return x + 1\n"
    )
    declared = threading.Event()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("builtins.declared", declared, raising=False)
    monkeypatch.setitem(raw._homes, "FromSlowFamily", "slow_family")
    thread = threading.Thread(target=lambda: raw.find("FromSlowFamily"))
    thread.start()
    try:
        declared.wait(10)
        assert raw.FromSlowFamily(tf.constant(1.0)) == 2.0
    finally:
        thread.join()
        raw.withdraw("FromSlowFamily")
        sys.modules.pop("slow_family")
