"""The processes that write code, one for each target that was asked for lately; they end with this process."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import weakref
from typing import IO

from intaglio.base.locks import after_fork, lasting_lock
from intaglio.export import transport
from intaglio.export.signatures import ExportError
from intaglio.export.transport import Answer

_START = "from intaglio.export.worker import main; main({threads})"
# Set for the code that runs in this process.
_OWN = ("INTAGLIO_VECTOR_BYTES", "INTAGLIO_PORTABLE", "INTAGLIO_VERIFY", "INTAGLIO_FUEL")


class Compiler:
    """A process that writes code for a target, for so many threads."""

    def __init__(self, target: str, threads: int) -> None:
        package = pathlib.Path(__file__).parents[1]
        paths = [str(package.parent), *[p for p in (os.environ.get("PYTHONPATH"),) if p]]
        environment = {k: v for k, v in os.environ.items() if k not in _OWN}
        environment |= {"INTAGLIO_TARGET": target, "PYTHONPATH": os.pathsep.join(paths)}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (the process has it)
        self._lock = lasting_lock()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(threads=threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )
        self._finalizer = weakref.finalize(self, _end, self._process, self._errors)

    def answer(self, request: bytes) -> Answer:
        """The answer to a request. Raises ExportError, with what it has printed, if the process ends."""
        source, out = self._process.stdin, self._process.stdout
        if source is None or out is None:
            raise ExportError("the process that compiles has no pipes")
        with self._lock:
            data = None
            with contextlib.suppress(BrokenPipeError):
                transport.send(source, request)
                data = transport.received(out)
            if data is None:
                self._process.wait()
                self._errors.seek(0)
                text = self._errors.read().decode(errors="replace")[-4000:]
                raise ExportError(f"the process that compiles ended: {text}")
        return transport.read(data)

    @property
    def alive(self) -> bool:
        """Whether it can take another request."""
        return self._process.poll() is None


def _end(process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    """Ends a process, which waits for a request."""
    for stream in (process.stdin, process.stdout, errors):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


# So many processes wait for requests at most; the levels of a processor have one each.
MAX_COMPILERS = 6
_lock = lasting_lock()
# The one that was asked for last is the last one.
_compilers: dict[tuple[str, int], Compiler] = {}
after_fork(_compilers.clear)  # a child starts its own


def compiler(target: str, threads: int = 1) -> Compiler:
    """The process for a target and a number of threads, started when it is first needed.

    Of more than `MAX_COMPILERS` the one that was not asked for the longest ends, after its request.
    """
    key = target, threads
    with _lock:
        found = _compilers.pop(key, None)
        if found is None or not found.alive:
            found = Compiler(target, threads)
        _compilers[key] = found
        while len(_compilers) > MAX_COMPILERS:
            del _compilers[next(iter(_compilers))]
    return found
