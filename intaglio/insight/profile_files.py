"""Files of profiles: HTML, speedscope's JSON, Chrome's trace events, and `xplane.pb` for TensorBoard."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import pathlib
import socket
from collections.abc import Sequence
from typing import Any

from intaglio.graphdef.profile_messages import Event, ThreadEvents, space_of
from intaglio.insight.html import html_of
from intaglio.insight.profiling import Profile, Sample, Step

SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"
SUFFIXES = (".html", ".speedscope.json", ".trace.json", ".trace.json.gz", ".xplane.pb")


def save_profile(profile: Profile, path: Any) -> None:
    """Writes a profile: the form follows from the end of the name.

    `.html` is a table, `.speedscope.json` opens in speedscope, `.trace.json` and `.trace.json.gz` in
    Chrome's tracing and Perfetto, `.xplane.pb` is the profiler's own form. A folder gets what
    TensorBoard's profiler shows, below `plugins/profile`. Raises ValueError for another name.
    """
    path = pathlib.Path(path)
    if not path.suffix or path.is_dir():
        _save_for_tensorboard(profile, path)
        return
    writers = {
        ".html": lambda: _page(profile).encode(),
        ".speedscope.json": lambda: json.dumps(speedscope(profile)).encode(),
        ".trace.json": lambda: json.dumps(chrome_trace(profile)).encode(),
        ".trace.json.gz": lambda: gzip.compress(json.dumps(chrome_trace(profile)).encode()),
        ".xplane.pb": lambda: xplane(profile),
    }
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            path.write_bytes(writers[suffix]())
            return
    raise ValueError(
        f"{path.name} ends in none of {', '.join(SUFFIXES)}; a folder is for TensorBoard"
    )


def _save_for_tensorboard(profile: Profile, folder: pathlib.Path) -> None:
    began = datetime.datetime.fromtimestamp(profile.began / 1e9)
    run = folder / "plugins" / "profile" / began.strftime("%Y_%m_%d_%H_%M_%S")
    run.mkdir(parents=True, exist_ok=True)
    host = socket.gethostname()
    (run / f"{host}.xplane.pb").write_bytes(xplane(profile))
    trace = json.dumps(chrome_trace(profile)).encode()
    (run / f"{host}.trace.json.gz").write_bytes(gzip.compress(trace))


def _page(profile: Profile) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Profile</title>'
        f"<body>{html_of(profile)}</body></html>"
    )


def _labels(stack: Sequence[Step]) -> list[tuple[str, str]]:
    """The levels of a stack with the file and line of each: the user's lines, then what runs."""
    found: list[tuple[str, str]] = []
    for step in stack:
        if step.where is not None:
            line = f"{step.where.short} {step.where.source}".rstrip()
            found.append((f"{step.where.function} ({step.where.short})", line))
    if stack[-1].name:
        found.append((stack[-1].name, found[-1][1] if found else ""))
    return found


def speedscope(profile: Profile) -> dict[str, Any]:
    """The profile in speedscope's format, https://github.com/jlfwong/speedscope/wiki."""
    frames: dict[str, int] = {}
    profiles: list[dict[str, Any]] = []
    for thread, samples in _by_thread(profile).items():
        stacks = [
            [frames.setdefault(name, len(frames)) for name, _ in _labels(s.stack)] for s in samples
        ]
        profiles.append(
            {
                "type": "sampled",
                "name": profile.threads.get(thread, str(thread)),
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": int(profile.seconds * 1e9),
                "samples": stacks,
                "weights": [s.weight for s in samples],
            }
        )
    shared = {"frames": [{"name": name} for name in frames]}
    return {"$schema": SPEEDSCOPE, "name": "intaglio", "shared": shared, "profiles": profiles}


def chrome_trace(profile: Profile) -> dict[str, Any]:
    """The profile as trace events, in microseconds."""
    found: list[dict[str, Any]] = []
    pid = os.getpid()
    for thread in threads_of(profile):
        args = {"name": thread.name}
        found.append(
            {"ph": "M", "pid": pid, "tid": thread.ident, "name": "thread_name", "args": args}
        )
        found += [
            {
                "ph": "X",
                "pid": pid,
                "tid": thread.ident,
                "name": e.name,
                "ts": e.begin / 1e3,
                "dur": (e.end - e.begin) / 1e3,
                "args": {"source": e.line},
            }
            for e in thread.events
        ]
    return {"displayTimeUnit": "ms", "traceEvents": found}


def xplane(profile: Profile) -> bytes:
    """The profile as a serialized XSpace, which TensorBoard's profiler reads."""
    return space_of(socket.gethostname(), profile.began, threads_of(profile))


def threads_of(profile: Profile) -> list[ThreadEvents]:
    """Events for what successive samples have in common, outer ones first."""
    return [
        ThreadEvents(thread, profile.threads.get(thread, str(thread)), _events(samples))
        for thread, samples in _by_thread(profile).items()
    ]


def _by_thread(profile: Profile) -> dict[int, list[Sample]]:
    found: dict[int, list[Sample]] = {}
    for sample in profile.samples:
        found.setdefault(sample.thread, []).append(sample)
    return found


def _events(samples: Sequence[Sample]) -> list[Event]:
    done: list[tuple[int, int, Event]] = []  # by begin, and by depth
    open_: list[tuple[tuple[str, str], int]] = []  # what goes on, with its begin
    end = 0

    def close(depth: int) -> None:
        while len(open_) > depth:
            (name, line), begin = open_.pop()
            done.append((begin, len(open_), Event(name, line, begin, end)))

    for sample in samples:
        labels = _labels(sample.stack)
        if sample.at > end:
            close(0)
        common = 0
        while common < min(len(labels), len(open_)) and open_[common][0] == labels[common]:
            common += 1
        close(common)
        open_ += [(label, sample.at) for label in labels[common:]]
        end = sample.at + sample.weight
    close(0)
    return [event for _, _, event in sorted(done)]
