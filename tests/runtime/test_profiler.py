"""tf.profiler: times of named blocks."""

from __future__ import annotations

import gzip
import json
import time

import pytest

from intaglio import tf

profiler = tf.profiler.experimental


def test_blocks_are_in_the_file(tmp_path):
    with profiler.Profile(str(tmp_path)):
        for step in range(2):
            with profiler.Trace("train", step_num=step) as block:
                time.sleep(0.01)
                block.set_metadata(kind="inner")
    (path,) = tmp_path.glob("plugins/profile/*/*.trace.json.gz")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    blocks = [e for e in events if e["ph"] == "X"]
    assert [b["args"] for b in blocks] == [
        {"step_num": "0", "kind": "inner"},
        {"step_num": "1", "kind": "inner"},
    ]
    assert all(b["name"] == "train" and b["dur"] >= 1e4 for b in blocks)
    assert blocks[0]["ts"] + blocks[0]["dur"] <= blocks[1]["ts"]


def test_one_profile_at_a_time(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        profiler.stop()
    profiler.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError):
        profiler.start(str(tmp_path))
    profiler.stop(save=False)
    assert not list(tmp_path.iterdir())
    with profiler.Trace("nobody records"):
        pass


def test_other_processes_are_not_profiled():
    for call in (
        lambda: profiler.server.start(6009),
        lambda: profiler.client.trace("grpc://host:1", "logs", 1000),
        lambda: profiler.client.monitor("grpc://host:1", 1000),
    ):
        with pytest.raises(NotImplementedError, match=r"tf\.profiler\.experimental"):
            call()
