"""Files and folders: models, checkpoints, datasets, Keras' files, compiled code."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from intaglio import tf
from intaglio.base.crc32c import crc32c, masked
from intaglio.data.snapshots import SnapshotMetadataRecord
from intaglio.graphdef import messages as protos
from intaglio.graphdef.load import parse_graph_def
from intaglio.graphdef.saved_messages import (
    BundleEntryProto,
    BundleHeaderProto,
    SavedModel,
    StructuredValue,
    TrackableObjectGraph,
)
from intaglio.native.llvm import object_cache
from intaglio.saved_model import bundle, table
from trust.fuzzing import mutation
from trust.fuzzing.messages import Mutator
from trust.fuzzing.models import Network, graphs
from trust.fuzzing.runner import Format

# Seconds that a function of a model may compute.
FUNCTION_SECONDS = 1.5
X = np.linspace(-1, 1, 12).astype(np.float32).reshape(3, 4)


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    """The files of a folder by their paths in it."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def written(folder: pathlib.Path, files: dict[str, bytes]) -> str:
    """A folder with these files and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return str(folder)


class Endless(Exception):
    """A function of a model does not come to an end."""


def _interrupted(number: int, frame: Any) -> None:
    raise Endless


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Ends a computation after some seconds: a loop whose condition stays true is no fault of ours."""
    signal.signal(signal.SIGVTALRM, _interrupted)
    signal.setitimer(signal.ITIMER_VIRTUAL, FUNCTION_SECONDS)
    try:
        with contextlib.suppress(Endless):
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


class Graphs(Format):
    """GraphDefs, imported into a graph and run."""

    name, share = "graphdef", 40_000

    def seeds(self) -> Any:
        return [graph.SerializeToString(deterministic=True) for graph in graphs()]

    def prepare(self, seeds: Any) -> None:
        self.known = seeds
        self.mutator = Mutator([protos.GraphDef.FromString(s) for s in seeds])

    def make(self, rng: random.Random) -> Any:
        data = rng.choice(self.known)
        if rng.random() < 0.1:
            return mutation.octets(rng, data)
        proto = protos.GraphDef.FromString(data)
        self.mutator.changed(rng, proto)
        return proto.SerializeToString(deterministic=True)

    def valid(self) -> Any:
        return self.known[0]

    def run(self, value: Any) -> None:
        def imported(x: Any) -> Any:
            names = [n.name for n in parse_graph_def(value).node if n.op == "Placeholder"]
            fed = {f"{name}:0": x for name in names}
            tf.graph_util.import_graph_def(value, fed, name="")
            graph = x.graph
            ops = [op for op in graph.get_operations() if op.type != "Placeholder"]
            found = [v for op in ops for v in op.outputs]
            return [v for v in found if v.dtype not in (tf.variant, tf.resource)]

        with limited():
            tf.function(imported, autograph=False)(tf.constant(X))


class Models(Format):
    """SavedModels: the message is changed, the model is loaded and its functions are called."""

    name, share = "saved_model", 8_000

    def seeds(self) -> Any:
        path = self.folder / "model"
        tf.saved_model.save(Network(), str(path))
        return contents(path)

    def prepare(self, seeds: Any) -> None:
        self.known = seeds
        self.mutator = Mutator([SavedModel.FromString(seeds["saved_model.pb"])])
        self.count = 0

    def make(self, rng: random.Random) -> Any:
        data = self.known["saved_model.pb"]
        if rng.random() < 0.1:
            return mutation.octets(rng, data)
        proto = SavedModel.FromString(data)
        compiled = rng.random() < 0.5
        for node in proto.meta_graphs[0].object_graph_def.nodes:
            if node.WhichOneof("kind") == "function":
                node.function.function_spec.jit_compile = 1 if compiled else 2
        part = rng.randrange(3)
        graph = proto.meta_graphs[0]
        target = proto
        if part == 0:
            target = rng.choice(graph.graph_def.library.function)
        elif part == 1:
            target = graph.object_graph_def
        self.mutator.changed(rng, target)
        return proto.SerializeToString(deterministic=True)

    def valid(self) -> Any:
        return self.known["saved_model.pb"]

    def run(self, value: Any) -> None:
        loaded = tf.saved_model.load(
            written(self.folder / "m", self.known | {"saved_model.pb": value})
        )
        problem = None
        for name in Network.NAMES:
            try:
                function = getattr(loaded, name, None)
                if callable(function):
                    with limited():
                        function(tf.constant(X))
            except (tf.errors.OpError, ValueError, TypeError) as e:
                problem = e
        if problem is not None:
            raise problem


class Checkpoints(Format):
    """Tensor bundles: entries, header and object graph changed, checksums computed again."""

    name, share = "checkpoint", 40_000

    def seeds(self) -> Any:
        value = tf.Module()
        value.a = tf.Variable(X)
        value.b = tf.Variable([1, 2, 3])
        value.c = [tf.Variable("text"), tf.Variable(True)]
        prefix = tf.train.Checkpoint(root=value).write(str(self.folder / "seed"))
        return {
            name.removeprefix("seed"): (self.folder / name).read_bytes()
            for name in sorted(os.listdir(self.folder))
            if name.startswith(os.path.basename(prefix) + ".")
        }

    def prepare(self, seeds: Any) -> None:
        self.known = seeds
        self.entries = table.read(seeds[".index"], "seed")
        kinds = [BundleHeaderProto if not key else BundleEntryProto for key in self.entries]
        parsed = [k.FromString(v) for k, v in zip(kinds, self.entries.values(), strict=True)]
        self.mutator = Mutator(parsed)
        self.graph = self._graph()
        self.graphs = Mutator([self.graph])

    def _graph(self) -> Any:
        written(self.folder / "p", {f"p{name}": data for name, data in self.known.items()})
        stored = bundle.Bundle(str(self.folder / "p" / "p")).array("_CHECKPOINTABLE_OBJECT_GRAPH")
        return TrackableObjectGraph.FromString(stored.item())

    def make(self, rng: random.Random) -> Any:
        data = next(v for k, v in self.known.items() if k != ".index")
        entries = dict(self.entries)
        kind = rng.randrange(6)
        if kind < 2:
            self._with_graph(rng, entries, data)
        elif kind == 2:
            data = mutation.octets(rng, data)
        else:
            key = rng.choice(sorted(entries))
            message = (BundleEntryProto if key else BundleHeaderProto).FromString(entries[key])
            self.mutator.changed(rng, message)
            entries[key] = message.SerializeToString()
        index = table.write(sorted(entries.items()))
        if rng.random() < 0.1:
            index = mutation.octets(rng, index)
        graph = getattr(self, "data", data) if kind < 2 else data
        return {"c.index": index, "c.data-00000-of-00001": graph}

    def _with_graph(self, rng: random.Random, entries: dict[bytes, bytes], data: bytes) -> None:
        """Puts a changed object graph behind the other tensors' bytes."""
        graph = TrackableObjectGraph()
        graph.CopyFrom(self.graph)
        self.graphs.changed(rng, graph)
        text = graph.SerializeToString(deterministic=True)
        lengths = table.varint(len(text))
        check = masked(crc32c(len(text).to_bytes(4, "little"))).to_bytes(4, "little")
        body = lengths + check + text
        whole = crc32c(len(text).to_bytes(4, "little") + check + text)
        entry = BundleEntryProto.FromString(entries[b"_CHECKPOINTABLE_OBJECT_GRAPH"])
        entry.offset, entry.size, entry.crc32c = len(data), len(body), masked(whole)
        entries[b"_CHECKPOINTABLE_OBJECT_GRAPH"] = entry.SerializeToString()
        self.data = data + body

    def valid(self) -> Any:
        return {f"c{name}": data for name, data in self.known.items()}

    def run(self, value: Any) -> None:
        prefix = written(self.folder / "c", value) + "/c"
        reader = tf.train.load_checkpoint(prefix)
        problem = None
        for name in reader.get_variable_to_shape_map():
            try:
                reader.get_tensor(name)
            except (tf.errors.OpError, ValueError, TypeError) as e:
                problem = e
        root = tf.Module()
        root.a, root.b = tf.Variable(X), tf.Variable([1, 2, 3])
        root.c = [tf.Variable("text"), tf.Variable(True)]
        tf.train.Checkpoint(root=root).restore(prefix).expect_partial()
        if problem is not None:
            raise problem


class Datasets(Format):
    """Folders that `Dataset.save` has written, and snapshots."""

    name, share = "dataset", 30_000

    def seeds(self) -> Any:
        path = self.folder / "saved"
        made = tf.data.Dataset.from_tensor_slices(
            {
                "x": tf.range(4),
                "s": ["a", "b", "", "d"],
                "r": tf.ragged.constant([[1], [], [2], [3]]),
            }
        )
        made.save(str(path))
        return contents(path)

    def prepare(self, seeds: Any) -> None:
        self.known = seeds
        self.metadata = SnapshotMetadataRecord.FromString(seeds["snapshot.metadata"])
        self.spec = StructuredValue.FromString(seeds["dataset_spec.pb"])
        self.mutator = Mutator([self.metadata, self.spec, *map(protos.TensorProto.FromString, [])])
        self.shard = next(name for name in seeds if name.endswith(".snapshot"))
        self.records = list(_records(seeds[self.shard]))

    def make(self, rng: random.Random) -> Any:
        files = dict(self.known)
        kind = rng.randrange(5)
        if kind == 0:
            message = SnapshotMetadataRecord()
            message.CopyFrom(self.metadata)
            self.mutator.changed(rng, message)
            files["snapshot.metadata"] = message.SerializeToString()
        elif kind == 1:
            message = StructuredValue()
            message.CopyFrom(self.spec)
            self.mutator.changed(rng, message)
            files["dataset_spec.pb"] = message.SerializeToString()
        elif kind == 2:
            name = rng.choice(sorted(files))
            files[name] = mutation.octets(rng, files[name])
        else:
            records = list(self.records)
            at = rng.randrange(len(records))
            records[at] = mutation.octets(rng, records[at])
            if rng.random() < 0.3:
                del records[rng.randrange(len(records))]
            files[self.shard] = b"".join(map(_record, records))
        return files

    def valid(self) -> Any:
        return self.known

    def run(self, value: Any) -> None:
        for element in tf.data.Dataset.load(written(self.folder / "d", value)).take(50):
            tf.nest.map_structure(lambda t: t.shape, element)


def _records(data: bytes) -> Any:
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 8], "little")
        yield data[at + 12 : at + 12 + length]
        at += length + 16


def _record(data: bytes) -> bytes:
    head = len(data).to_bytes(8, "little")
    checks = [masked(crc32c(part)).to_bytes(4, "little") for part in (head, data)]
    return head + checks[0] + data + checks[1]


class Objects(Format):
    """Compiled code on disk: what is changed, cut off or renamed is never run."""

    name, share = "compiled_cache", 60_000

    def seeds(self) -> Any:
        names = [object_cache.name_of(text) for text in "abc"]
        os.environ["INTAGLIO_CACHE"] = str(self.folder / "cache")
        for name in names:
            object_cache.write(name, name.encode() * 20)
        return {n: (self.folder / "cache" / f"{n}.o").read_bytes() for n in names}

    def make(self, rng: random.Random) -> Any:
        name, other = rng.choice(sorted(self.known)), rng.choice(sorted(self.known))
        data = self.known[other]
        return name, data if rng.random() < 0.3 else mutation.octets(rng, data)

    def valid(self) -> Any:
        name = sorted(self.known)[0]
        return name, self.known[name]

    def run(self, value: Any) -> None:
        name, data = value
        os.environ["INTAGLIO_CACHE"] = str(self.folder / "cache")
        folder = self.folder / "cache"
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / f"{name}.o").write_bytes(data)
        found = object_cache.read(name)
        assert found is None or (found == name.encode() * 20 and data == self.known[name])


# -- Keras -----------------------------------------------------------------------------------


class KerasFiles(Format):
    """`.keras` archives: their configuration changed as JSON, their weights as HDF5."""

    name, share = "keras", 2_000
    # What Keras' own code raises for configurations that it does not understand is Keras'.
    allowed = (Exception,)

    def seeds(self) -> Any:
        keras = tf.keras
        layers = [keras.layers.Dense(3, activation="relu"), keras.layers.LayerNormalization()]
        model = keras.Sequential([keras.layers.Input((4,)), *layers, keras.layers.Dense(1)])
        model.save(self.folder / "m.keras")
        with zipfile.ZipFile(self.folder / "m.keras") as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def make(self, rng: random.Random) -> Any:
        files = dict(self.known)
        kind = rng.randrange(3)
        if kind == 0:
            config = mutation.json_value(rng, json.loads(files["config.json"]))
            files["config.json"] = json.dumps(config).encode()
        elif kind == 1:
            files["model.weights.h5"] = mutation.octets(rng, files["model.weights.h5"])
        else:
            name = rng.choice(sorted(files))
            files[name] = mutation.octets(rng, files[name])
        return files

    def valid(self) -> Any:
        return self.known

    def run(self, value: Any) -> None:
        path = self.folder / "f.keras"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in value.items():
                archive.writestr(name, data)
        tf.keras.models.load_model(path, compile=False)(X)


class Weights(Format):
    """HDF5 files of weights."""

    name, share = "hdf5", 2_000
    allowed = (OSError, KeyError, RuntimeError)

    def seeds(self) -> Any:
        keras = tf.keras
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
        model.save_weights(self.folder / "m.weights.h5")
        return (self.folder / "m.weights.h5").read_bytes()

    def prepare(self, seeds: Any) -> None:
        self.known = seeds
        keras = tf.keras
        self.model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])

    def make(self, rng: random.Random) -> Any:
        return mutation.octets(rng, self.known)

    def valid(self) -> Any:
        return self.known

    def run(self, value: Any) -> None:
        path = self.folder / "f.weights.h5"
        path.write_bytes(value)
        self.model.load_weights(path)
