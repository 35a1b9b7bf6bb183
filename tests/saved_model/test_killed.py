"""What is on disk when a process is killed while it saves over something older: that, or the new."""

from __future__ import annotations

import os
import pathlib
import resource
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from tests.killing import killed_at_every_step

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")
SIZE = 3000


class Kind:
    """Something that is saved over something older: numbers that are all the same, as its version."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.path = str(folder / "state")

    def save(self, version: int) -> None:
        """Saves a version."""
        raise NotImplementedError

    def load(self) -> Any:
        """All numbers of what is there."""
        raise NotImplementedError

    def loaded(self) -> int:
        """The version that is there, of which every number is one."""
        values = {float(x) for array in self.load() for x in np.unique(array)}
        assert len(values) == 1, values
        return int(values.pop())


def _variables(version: int = 0) -> Any:
    module = tf.Module()
    module.a = tf.Variable(np.full(SIZE, version, np.float32))
    module.b = tf.Variable(np.full(SIZE, version, np.int64))
    return module


class Bundle(Kind):
    """Checkpoint.write."""

    options: Any = None

    def save(self, version: int) -> None:
        tf.train.Checkpoint(m=_variables(version)).write(self.path, self.options)

    def load(self) -> Any:
        module = _variables()
        tf.train.Checkpoint(m=module).read(self.path).assert_consumed()
        return [module.a.numpy(), module.b.numpy()]


class Shards(Bundle):
    """The same in several files."""

    policy = tf.train.experimental.MaxShardSizePolicy(4 * SIZE)
    options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)


class Manager(Kind):
    """CheckpointManager.save."""

    def _manager(self, module: Any) -> Any:
        return tf.train.CheckpointManager(tf.train.Checkpoint(m=module), self.path, 2)

    def save(self, version: int) -> None:
        module = _variables(version)
        manager = self._manager(module)
        manager.checkpoint.save_counter.assign(version - 1)
        manager.save()

    def load(self) -> Any:
        module = _variables()
        newest = self._manager(module).latest_checkpoint
        assert newest == tf.train.latest_checkpoint(self.path)
        tf.train.Checkpoint(m=module).restore(newest).expect_partial()
        return [module.a.numpy(), module.b.numpy()]


class Model(Kind):
    """saved_model.save."""

    def save(self, version: int) -> None:
        tf.saved_model.save(_variables(version), self.path)

    def load(self) -> Any:
        module = tf.saved_model.load(self.path)
        return [module.a.numpy(), module.b.numpy()]


class ModelAmongFiles(Model):
    """The same into a folder that has other files too."""

    def save(self, version: int) -> None:
        os.makedirs(self.path, exist_ok=True)
        notes = pathlib.Path(self.path, "notes")
        if not notes.exists():
            notes.write_text("mine")
        super().save(version)

    def load(self) -> Any:
        assert pathlib.Path(self.path, "notes").read_text() == "mine"
        return super().load()


class Dataset(Kind):
    """Dataset.save; the structure of the elements differs between even and odd versions."""

    def save(self, version: int) -> None:
        dataset = tf.data.Dataset.from_tensors(np.full(SIZE, version, np.int64)).repeat(3)
        if version % 2:
            dataset = dataset.map(lambda x: {"x": x, "y": x})
        dataset.save(self.path)

    def load(self) -> Any:
        found = [*tf.data.Dataset.load(self.path).as_numpy_iterator()]
        assert len(found) == 3
        return [v for f in found for v in (f.values() if isinstance(f, dict) else [f])]


class Records(Kind):
    """TFRecordWriter."""

    def save(self, version: int) -> None:
        with tf.io.TFRecordWriter(self.path) as file:
            for _ in range(3):
                file.write(np.full(SIZE, version, np.uint8).tobytes())

    def load(self) -> Any:
        found = [r.numpy() for r in tf.data.TFRecordDataset(self.path)]
        assert len(found) == 3
        return [np.frombuffer(r, np.uint8) for r in found]


KINDS = [Bundle, Shards, Manager, Model, ModelAmongFiles, Dataset, Records]


@pytest.mark.parametrize("kind", KINDS)
def test_the_old_or_the_new_state_loads(tmp_path: pathlib.Path, kind: Callable[..., Kind]) -> None:
    state = kind(tmp_path)
    state.save(1)
    clean = len([*tmp_path.rglob("*")])

    def check() -> None:
        assert state.loaded() in (1, 2)

    assert killed_at_every_step(lambda: state.save(2), check) > 5
    assert state.loaded() == 2
    state.save(3)
    assert state.loaded() == 3
    left = [p.name for p in tmp_path.rglob("*") if "tempstate" in p.name]
    assert not left, clean


def _limited(save: Callable[[], None]) -> str:
    """The class of the error of saving where files may have few bytes."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        name = "none"
        try:
            save()
        except BaseException as e:
            name = type(e).__name__
        os.write(write, name.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        name = file.read().decode()
    os.waitpid(process, 0)
    return name


@pytest.mark.parametrize("kind", KINDS)
def test_where_files_are_full_the_old_state_stays(
    tmp_path: pathlib.Path, kind: Callable[..., Kind]
) -> None:
    state = kind(tmp_path)
    state.save(1)
    assert _limited(lambda: state.save(2)) == "ResourceExhaustedError"
    assert state.loaded() == 1
    state.save(3)
    assert state.loaded() == 3
    assert not [p.name for p in tmp_path.rglob("*") if "tempstate" in p.name]
