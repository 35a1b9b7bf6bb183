"""Kills processes while they save over something older, and loads what is there: old or new.

`python -m trust.kills --count 200 [--write]`. Each process saves one version after the other, and
reports each when it is saved; it is killed at a random moment. What is loaded then must be the version
that was reported last, or the next, and whole.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import pathlib
import random
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import tf
from trust import page

# Elements of each variable: so many that writing them takes a part of the time.
SIZE = 20_000
# A process is killed within so many times the seconds that a save takes, after its first one.
SPAN = 3.0
SEED = 1


def _module(version: int = 0) -> Any:
    module = tf.Module()
    module.a = tf.Variable(np.full(SIZE, version, np.float32))
    module.b = tf.Variable(np.full(SIZE, version, np.int64))
    return module


class Kind:
    """Something that is saved: arrays all of whose elements are the number of the version."""

    name = ""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "state")

    def save(self, version: int) -> None:
        """Saves a version over the one before."""
        raise NotImplementedError

    def load(self) -> list[Any]:
        """The arrays of what is there."""
        raise NotImplementedError


class Checkpoint(Kind):
    """A prefix that is written again and again."""

    name = "Checkpoint.write"

    def save(self, version: int) -> None:
        tf.train.Checkpoint(m=_module(version)).write(self.path)

    def load(self) -> list[Any]:
        module = _module()
        tf.train.Checkpoint(m=module).read(self.path).assert_consumed()
        return [module.a.numpy(), module.b.numpy()]


class Manager(Kind):
    """Numbered checkpoints, of which two are kept."""

    name = "CheckpointManager.save"

    def _manager(self, module: Any) -> Any:
        return tf.train.CheckpointManager(tf.train.Checkpoint(m=module), self.path, 2)

    def save(self, version: int) -> None:
        self._manager(_module(version)).save(checkpoint_number=version)

    def load(self) -> list[Any]:
        module = _module()
        newest = self._manager(module).latest_checkpoint
        tf.train.Checkpoint(m=module).restore(newest).expect_partial()
        return [module.a.numpy(), module.b.numpy()]


class SavedModel(Kind):
    """A folder that is written again and again."""

    name = "saved_model.save"

    def save(self, version: int) -> None:
        tf.saved_model.save(_module(version), self.path)

    def load(self) -> list[Any]:
        module = tf.saved_model.load(self.path)
        return [module.a.numpy(), module.b.numpy()]


class SavedModelAmongFiles(SavedModel):
    """The same where the folder has a file of the user's, which keeps it from being exchanged."""

    name = "saved_model.save, other files in the folder"

    def save(self, version: int) -> None:
        os.makedirs(self.path, exist_ok=True)
        pathlib.Path(self.path, "notes").touch()
        super().save(version)


class Keras(Kind):
    """A `.keras` file."""

    name = "keras.Model.save"

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.path += ".keras"
        layers = tf.keras.layers
        self.model = tf.keras.Sequential([tf.keras.Input((100,)), layers.Dense(100)])

    def save(self, version: int) -> None:
        for weight in self.model.weights:
            weight.assign(np.full(weight.shape, version, np.float32))
        self.model.save(self.path)

    def load(self) -> list[Any]:
        return [w.numpy() for w in tf.keras.models.load_model(self.path).weights]


class KerasFolder(Keras):
    """The folder of an unzipped model."""

    name = "keras.Model.save, a folder"

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.path = self.path.removesuffix(".keras")

    def save(self, version: int) -> None:
        for weight in self.model.weights:
            weight.assign(np.full(weight.shape, version, np.float32))
        self.model.save(self.path, zipped=False)


class Dataset(Kind):
    """A folder of elements."""

    name = "Dataset.save"

    def save(self, version: int) -> None:
        tf.data.Dataset.from_tensors(np.full(SIZE, version, np.int64)).repeat(3).save(self.path)

    def load(self) -> list[Any]:
        return [*tf.data.Dataset.load(self.path).as_numpy_iterator()]


KINDS: list[Callable[[str], Kind]] = [
    Checkpoint,
    Manager,
    SavedModel,
    SavedModelAmongFiles,
    Keras,
    KerasFolder,
    Dataset,
]


def version_of(arrays: list[Any]) -> int:
    """The version that all elements are of. Raises ValueError if there are several."""
    found = {float(x) for array in arrays for x in np.unique(array)}
    if len(found) != 1:
        raise ValueError(f"parts of several versions: {sorted(found)}")
    return int(found.pop())


# What a process reports: a version that is saved, and the time.
_REPORT = struct.Struct("<qd")


def kill(state: Kind, first: int, delay: float) -> tuple[int, float]:
    """Saves versions from `first` on in a process, which is killed after some seconds.

    Returns the last version that it said was saved, and the seconds that a save took; infinity if none
    was completed.
    """
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            for version in itertools.count(first):
                os.write(write, _REPORT.pack(version - 1, time.monotonic()))
                state.save(version)
        except BaseException as e:
            print(f"{state.name}: {type(e).__name__}: {e}", file=sys.stderr, flush=True)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        said = [_REPORT.unpack(file.read(_REPORT.size))]  # it begins to save
        time.sleep(delay)
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        said += [*_REPORT.iter_unpack(file.read())]
    if os.WIFEXITED(status):
        raise RuntimeError(f"{state.name}: the process could not save")
    (_, begin), (version, end) = said[0], said[-1]
    return version, (end - begin) / (len(said) - 1) if len(said) > 1 else math.inf


class Counts:
    """What became of the processes of one kind."""

    def __init__(self) -> None:
        self.kills = self.old = self.new = 0
        self.lost: list[str] = []


def count(kind: Callable[[str], Kind], kills: int, random_: random.Random) -> tuple[str, Counts]:
    """Kills so many processes that save one kind of thing; gives its name and what came of it."""
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        state = kind(folder)
        state.save(1)
        start = time.perf_counter()
        state.save(2)
        seconds = time.perf_counter() - start
        version = 2
        for _ in range(kills):
            said, took = kill(state, version + 1, random_.random() * SPAN * seconds)
            # So that about as many are killed in the first save as after it, on a busy machine too.
            seconds = seconds * 1.2 if took == math.inf else (seconds + took) / 2
            counts.kills += 1
            try:
                version = version_of(state.load())
                if version not in (said, said + 1):
                    raise ValueError(f"version {version} after {said} was saved")
            except Exception as e:
                counts.lost.append(f"{type(e).__name__}: {e}")
                state.save(version := said + 1)
                continue
            counts.old += version == said
            counts.new += version == said + 1
        state.save(version + 1)
        left = [n for n in os.listdir(folder) if "tempstate" in n]
        if left:
            counts.lost.append(f"left behind: {left}")
    return state.name, counts


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="processes for each kind")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true", help="write the table to docs/trust.md")
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    rows: list[tuple[object, ...]] = []
    lost: list[str] = []
    for kind in KINDS:
        name, c = count(kind, options.count, random_)
        rows.append((f"`{name}`" if "," not in name else name, c.kills, c.old, c.new, len(c.lost)))
        lost += [f"{name}: {text}" for text in c.lost]
    heads = ("saved", "kills", "the last one reported loads", "the next one loads", "lost")
    text = page.table(heads, rows)
    print(text, *lost, sep="\n")
    if options.write:
        command = f"python -m trust.kills --count {options.count} --seed {options.seed}"
        page.write("kills", command, text)
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
