"""Models saved and loaded object by object, as Keras 2 does. TensorFlow's answers were recorded."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf
from intaglio.saved_model import revived
from intaglio.state.tracking import AutoTrackable
from intaglio.tensorflow_name.saved_model_parts import (
    load_partial,
    parse_saved_model,
    save_and_return_nodes,
)


def model() -> Any:
    found = tf.Module()
    found.v, found.l = tf.Variable(1.0), [tf.Variable(2.0)]
    found.f = tf.function(lambda x: x + found.v, input_signature=[tf.TensorSpec([])])
    return found


@pytest.fixture
def folder(tmp_path: Any) -> str:
    tf.saved_model.save(model(), str(tmp_path / "m"))
    return str(tmp_path / "m")


def test_objects_and_their_paths(tmp_path: Any) -> None:
    saved = model()
    nodes, paths = save_and_return_nodes(saved, str(tmp_path / "m"))
    assert nodes[0] is saved
    assert {id(saved.v), id(saved.l), id(saved.f)} <= {id(n) for n in nodes}
    assert paths[saved] == ()
    assert [(part.name, part.ref) for part in paths[saved.l[0]]] == [
        ("l", saved.l),
        ("0", saved.l[0]),
    ]
    proto = parse_saved_model(str(tmp_path / "m")).meta_graphs[0].object_graph_def
    assert len(proto.nodes) == len(nodes)


def test_parts_of_a_model(folder: str) -> None:
    assert float(load_partial(folder, {"root.v": None})["root.v"]) == 1.0
    with pytest.raises(ValueError, match="does not include all required objects"):
        load_partial(folder, {"root.f": None})
    with pytest.raises(KeyError, match=r"no object 'root\.q'"):
        load_partial(folder, {"root.q": None})
    both = load_partial(folder, {"root.f": None, "root.v": None})
    assert float(both["root.f"](1.0)) == 2.0


def test_objects_that_were_there_before(folder: str) -> None:
    root, seen = tf.Module(), list[tuple[Any, str]]()
    root.v = tf.Variable(7.0)

    def setter(owner: Any, name: str, value: Any) -> None:
        seen.append((owner, name))
        if name != "v":
            setattr(owner, name, value)

    found = load_partial(folder, {"root": (root, setter), "root.v": (root.v, setattr)})
    assert found == {"root": root, "root.v": root.v}
    assert {name for _, name in seen} == {"v", "l", "f", "signatures"}
    assert float(root.v) == 1.0
    root.v.assign(10.0)
    assert float(root.f(1.0)) == 11.0


def test_a_variable_of_another_shape(folder: str) -> None:
    with pytest.raises(ValueError):
        load_partial(folder, {"root": None, "root.v": (tf.Variable([1.0, 2.0]), setattr)})


def test_a_table_that_was_there_before(tmp_path: Any) -> None:
    def table() -> Any:
        return tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    saved = tf.Module()
    saved.t = table()
    saved.t.insert(["a", "b"], tf.constant([1, 2], tf.int64))
    saved.f = tf.function(saved.t.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
    tf.saved_model.save(saved, str(tmp_path / "m"))
    mine = table()
    found = load_partial(str(tmp_path / "m"), {"root": None, "root.t": (mine, setattr)})
    assert mine.lookup(tf.constant(["b", "c"])).numpy().tolist() == [2, -1]
    mine.insert(tf.constant(["c"]), tf.constant([3], tf.int64))
    assert found["root"].f(tf.constant(["c"])).numpy().tolist() == [3]


trees = st.recursive(
    st.just("v"),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
    max_leaves=5,
)


@settings(max_examples=15, deadline=None)
@given(tree=trees.filter(lambda t: t != "v"), data=st.data())
def test_any_objects_of_any_model(tree: Any, data: Any, tmp_path_factory: Any) -> None:
    """Whatever objects are given, all variables have their saved values, and given ones are kept."""
    numbers, paths = itertools.count(1.0), dict[str, float]()

    def built(part: Any, path: str) -> Any:
        if part == "v":
            paths[path] = next(numbers)
            return tf.Variable(paths[path])
        module = tf.Module()
        for name, inner in part.items():
            setattr(module, name, built(inner, f"{path}.{name}"))
        return module

    folder = str(tmp_path_factory.mktemp("m"))
    tf.saved_model.save(built(tree, "root"), folder)
    chosen = data.draw(st.sets(st.sampled_from(sorted(paths))))
    mine = {path: tf.Variable(-1.0) for path in chosen}
    found = load_partial(folder, {"root": None, **{p: (v, setattr) for p, v in mine.items()}})[
        "root"
    ]
    for path, value in paths.items():
        at = found
        for name in path.split(".")[1:]:
            at = getattr(at, name)
        assert float(at) == value
        assert path not in mine or at is mine[path]


class Kind(AutoTrackable):
    """An object of a registered class."""


revived.register_revived_type(
    "tests.Kind",
    lambda value: isinstance(value, Kind),
    versions=[
        revived.VersionedTypeRegistration(
            object_factory=lambda proto: Kind(),
            version=3,
            min_producer_version=1,
            min_consumer_version=2,
        )
    ],
)


def test_objects_of_registered_classes(tmp_path: Any) -> None:
    owner = tf.Module()
    owner.kind = Kind()
    owner.kind.v = tf.Variable(4.0)
    tf.saved_model.save(owner, str(tmp_path / "m"))
    proto = parse_saved_model(str(tmp_path / "m")).meta_graphs[0].object_graph_def
    saved = [n.user_object for n in proto.nodes if n.user_object.identifier == "tests.Kind"]
    assert [(s.version.producer, s.version.min_consumer) for s in saved] == [(3, 2)]
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    assert type(loaded.kind) is Kind
    assert float(loaded.kind.v) == 4.0
    assert "tests.Kind" in revived.registered_identifiers()
    assert revived.get_setter(saved[0]) is setattr
    with pytest.raises(AssertionError, match="Duplicate registrations"):
        revived.register_revived_type("tests.Kind", lambda _: False, versions=[])


def test_a_newer_version_is_a_plain_object(tmp_path: Any) -> None:
    owner = tf.Module()
    owner.kind = Kind()
    tf.saved_model.save(owner, str(tmp_path / "m"))
    path = tmp_path / "m" / "saved_model.pb"
    proto = parse_saved_model(str(tmp_path / "m"))
    for node in proto.meta_graphs[0].object_graph_def.nodes:
        if node.user_object.identifier == "tests.Kind":
            node.user_object.version.min_consumer = 4
    path.write_bytes(proto.SerializeToString())
    assert type(tf.saved_model.load(str(tmp_path / "m")).kind) is not Kind


def test_classes_and_caches_of_one_saving(tmp_path: Any) -> None:
    """Objects share a dictionary while they are saved, and name their class in the file."""
    caches = []

    class Layer(AutoTrackable):
        _object_identifier = "_tests_layer"

        def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> Any:
            if save_type == "savedmodel":
                caches.append(kwargs["cache"])
                made = kwargs["cache"].setdefault("made", {})
                function = made.setdefault(id(self), tf.function(lambda: 1, input_signature=[]))
                return {"_default_save_signature": function}
            return {}

    owner = Layer()
    tf.saved_model.save(owner, str(tmp_path / "m"))
    assert all(cache is caches[0] for cache in caches)
    proto = parse_saved_model(str(tmp_path / "m")).meta_graphs[0].object_graph_def
    assert proto.nodes[0].user_object.identifier == "_tests_layer"
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    assert int(loaded.signatures["serving_default"]()["output_0"]) == 1


def test_the_public_names() -> None:
    intaglio.install_as_tensorflow()
    import tensorflow

    inner = tensorflow.__internal__.saved_model
    assert inner.load_partial is load_partial
    assert inner.parse_saved_model is parse_saved_model
    assert inner.load.get_setter is revived.get_setter


def test_lists_are_complete_when_an_owner_gets_them(tmp_path: Any) -> None:
    """Owners may copy them."""
    saved = tf.Module()
    saved.items = [tf.Variable(1.0), {"a": [tf.Variable(2.0)]}]
    tf.saved_model.save(saved, str(tmp_path / "m"))
    copies: dict[str, str] = {}

    def setter(owner: Any, name: str, value: Any) -> None:
        copies[name] = repr(
            tf.nest.map_structure(lambda v: float(v), value) if name == "items" else ""
        )

    load_partial(str(tmp_path / "m"), {"root": (tf.Module(), setter)})
    assert copies["items"] == repr([1.0, {"a": [2.0]}])
