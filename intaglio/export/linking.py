"""Libraries from object files: by the system's C compiler, or by the one in the wheel `ziglang`."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence

from intaglio.export.signatures import ExportError

_X86 = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
# By target, what zig calls the system. Programs have musl inside and run on any Linux.
_ZIG_TARGETS = {
    **dict.fromkeys(_X86, "x86_64-linux-musl"),
    "aarch64-linux": "aarch64-linux-musl",
    "aarch64-macos": "aarch64-macos",
    "riscv64-linux": "riscv64-linux-musl",
    "wasm32": "wasm32-wasi",
}
# A shared library has the libc of the program that loads it: mostly glibc, of which old versions do.
_ZIG_SHARED = {
    **dict.fromkeys(_X86, "x86_64-linux-gnu.2.17"),
    "aarch64-linux": "aarch64-linux-gnu.2.17",
    "riscv64-linux": "riscv64-linux-gnu.2.27",
}
# A linker that takes longer hangs.
_SECONDS = 600


class Toolchain:
    """What compiles and links C for a target: commands without their operands."""

    def __init__(self, target: str) -> None:
        """Raises ExportError, with what to install, if there is none."""
        self.target = target
        self.wasm = target == "wasm32"
        own = target == "host" or (
            target in _X86 and sys.platform == "linux" and platform.machine() == "x86_64"
        )
        cc = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
        if own and cc:
            self._cc, self._ar = [cc], [shutil.which("ar") or "ar"]
            self._cc_shared = self._cc
            return
        if importlib.util.find_spec("ziglang") is None:
            what = (
                "no C compiler is installed"
                if own
                else f"the system's compiler is not for {target}"
            )
            raise ExportError(
                f"{what}: pip install 'intaglio[export]' for the one in the wheel ziglang, or write the "
                "object file alone with kinds=('object',) and link it yourself."
            )
        zig = [sys.executable, "-m", "ziglang"]
        system = ["-target", _ZIG_TARGETS[target]] if target in _ZIG_TARGETS else []
        shared = ["-target", _ZIG_SHARED[target]] if target in _ZIG_SHARED else system
        self._cc, self._ar = [*zig, "cc", *system], [*zig, "ar"]
        self._cc_shared = [*zig, "cc", *shared]

    def compile(self, *arguments: str) -> None:
        """Runs the C compiler. Raises ExportError with what it says."""
        _run([*self._cc, *arguments])

    def archive(self, path: str, objects: Sequence[str]) -> None:
        """Writes a static library."""
        if os.path.exists(path):
            os.remove(path)
        _run([*self._ar, "rcs", path, *objects])

    def shared(self, path: str, object_: str, exported: Sequence[str]) -> None:
        """Writes a shared library; a module without imports for WebAssembly."""
        if self.wasm:
            exports = [f"-Wl,--export={name}" for name in (*exported, "malloc", "free")]
            self.compile("-mexec-model=reactor", "-s", "-Os", *exports, object_, "-o", path)
            return
        strip = [] if "macos" in self.target or sys.platform == "darwin" else ["-s"]
        _run([*self._cc_shared, "-shared", *strip, object_, "-lm", "-o", path])


def shared_suffix(target: str) -> str:
    """What the name of a shared library ends with."""
    if target == "wasm32":
        return ".wasm"
    mac = target.endswith("macos") or (target == "host" and sys.platform == "darwin")
    return ".dylib" if mac else ".so"


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode:
        raise ExportError(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
