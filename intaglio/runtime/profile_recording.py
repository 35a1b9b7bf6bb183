"""Recording the times of blocks, and the file that shows them.

Follows https://www.tensorflow.org/api_docs/python/tf/profiler/experimental/Profile.
"""

from __future__ import annotations

import datetime
import gzip
import json
import os
import socket
import threading
import time
from typing import Any, NamedTuple

from intaglio.base import errors, files
from intaglio.base.locks import lasting_lock


class ProfilerOptions(NamedTuple):
    """Options of a profile, for compatibility: they are stored, and have no effect."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Recording:
    """The blocks of the current profile that have ended."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.begin = time.perf_counter_ns()
        self.events: list[dict[str, Any]] = []

    def add(self, name: str, begin: int, end: int, details: dict[str, Any]) -> None:
        self.events.append(
            {
                "ph": "X",
                "pid": os.getpid(),
                "tid": threading.get_ident(),
                "name": name,
                "ts": (begin - self.begin) / 1e3,
                "dur": (end - begin) / 1e3,
                "args": {k: str(v) for k, v in details.items()},
            }
        )

    def save(self) -> None:
        run = datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S")
        folder = files.join(self.folder, "plugins", "profile", run)
        files.make_folders(folder)
        names = {t.ident: t.name for t in threading.enumerate()}
        heads = [
            {
                "ph": "M",
                "pid": os.getpid(),
                "tid": thread,
                "name": "thread_name",
                "args": {"name": name},
            }
            for thread, name in names.items()
        ]
        data = json.dumps({"displayTimeUnit": "ns", "traceEvents": heads + self.events})
        path = files.join(folder, f"{socket.gethostname()}.trace.json.gz")
        files.write(path, gzip.compress(data.encode()))


_lock = lasting_lock()
_recording: _Recording | None = None


def start(logdir: Any, options: Any = None) -> None:
    """Begins a profile, which `stop` writes below the folder.

    Raises AlreadyExistsError if one has begun.

    `options` are accepted and have no effect.

    >>> import tempfile
    >>> tf.profiler.experimental.start(tempfile.mkdtemp())
    >>> tf.profiler.experimental.stop()
    """
    global _recording
    with _lock:
        if _recording is not None:
            raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
        _recording = _Recording(os.fsdecode(logdir))


def stop(save: bool = True) -> None:
    """Ends the profile, and writes it unless `save` is false.

    Raises UnavailableError if none has begun.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.profiler.experimental.start(folder)
    ...     tf.profiler.experimental.stop()
    """
    global _recording
    with _lock:
        found, _recording = _recording, None
    if found is None:
        raise errors.UnavailableError(
            None, None, "Cannot export profiling results. No profiler is running."
        )
    if save:
        found.save()


class Profile:
    """A profile of the block: `start` before it, `stop` after it.

    >>> import tempfile
    >>> with tf.profiler.experimental.Profile(tempfile.mkdtemp()):
    ...     with tf.profiler.experimental.Trace("step", step_num=1):
    ...         _ = tf.add(1, 2)
    """

    def __init__(self, logdir: Any, options: Any = None) -> None:
        self._logdir = logdir
        self._options = options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *exc: Any) -> None:
        stop()


class Trace:
    """The block under a name, with its times, in the profile that is being recorded, if any."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name = name
        self._details = kwargs
        self._begin = 0

    def set_metadata(self, **kwargs: Any) -> None:
        """Adds details to what the profile shows of the block."""
        self._details.update(kwargs)

    def __enter__(self) -> Trace:
        self._begin = time.perf_counter_ns()
        return self

    def __exit__(self, *exc: Any) -> None:
        recording = _recording
        if recording is not None:
            end = time.perf_counter_ns()
            recording.add(self._name, self._begin, end, self._details)


__all__ = ["Profile", "ProfilerOptions", "Trace", "start", "stop"]
