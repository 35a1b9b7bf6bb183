"""The peers' environments: built on request, each with one library in it."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
FOLDER = ROOT / ".peers"
PACKAGES = {
    "tensorflow": ["tensorflow-cpu==2.21.0", "keras==3.15.1"],
    "jax": ["jax[cpu]"],
    "torch": ["torch", "numpy"],
}
# No peer, but what draws the pictures is in an environment of its own too.
PICTURES = "pictures"
PACKAGES_OF = {**PACKAGES, PICTURES: ["matplotlib>=3.9"]}
# Intaglio without `tf.function`, as the peer of what it traces.
EAGER = "eager"
# Peers that are in another's environment.
SHARING = {"xla": "tensorflow", EAGER: "intaglio"}


def python_of(peer: str) -> pathlib.Path | None:
    """The interpreter of a peer's environment, or None if it was not built."""
    home = SHARING.get(peer, peer)
    if home == "intaglio":
        return pathlib.Path(sys.executable)
    python = FOLDER / home / "bin" / "python"
    return python if python.exists() else None


def build(peer: str) -> None:
    """Makes a peer's environment if it is not there. Raises CalledProcessError if pip fails."""
    if python_of(peer) is not None:
        return
    subprocess.run([sys.executable, "-m", "venv", str(FOLDER / peer)], check=True)
    install = [str(FOLDER / peer / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, *PACKAGES_OF[peer]], check=True)


def install() -> None:
    """Gives the checkout what an installed wheel has: compiled bytecode and prepared machine code.

    Raises CalledProcessError where that fails.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for command in (["compileall", "-q", "intaglio"], ["intaglio.tools.preparation"]):
        subprocess.run([sys.executable, "-m", *command], check=True, cwd=ROOT, env=environment)


class Worker:
    """A process that times cases with one library."""

    def __init__(self, peer: str, python: pathlib.Path) -> None:
        self.peer = peer
        self.process = subprocess.Popen(
            [str(python), "-m", "benchmarks.worker", peer],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._answer()
        self._stop()

    def _stop(self) -> None:
        """Pauses, so that threads which spin while they wait do not disturb the measurement."""
        self.process.send_signal(signal.SIGSTOP)

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"the {self.peer} worker died")
        return line

    def time(self, case: str, seconds: float) -> float | None:
        """Seconds a call, or None if the library has no such case."""
        assert self.process.stdin is not None
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{case} {seconds}\n")
        self.process.stdin.flush()
        answer = self._answer()
        self._stop()
        return None if answer == "none" else float(answer)

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
