"""`graph_diff`: what differs, by the user's lines."""

from __future__ import annotations

from typing import Any

import intaglio
from intaglio import tf


def model(x: Any, training: bool) -> Any:
    h = tf.nn.relu(x)
    if training:
        h = tf.nn.dropout(h, 0.5)
    return tf.reduce_sum(h)


def traces() -> list[Any]:
    f = tf.function(model)
    four, five = tf.TensorSpec([4]), tf.TensorSpec([5])
    return [f.get_concrete_function(*a) for a in ((four, False), (five, False), (four, True))]


def test_a_graph_is_itself() -> None:
    plain, _, _ = traces()
    same = intaglio.graph_diff(plain, plain.to_text())
    assert not same and str(same) == "the graphs have the same ops"


def test_types_that_differ_are_changes() -> None:
    plain, longer, _ = traces()
    diff = intaglio.graph_diff(plain, longer)
    changes = {c.op: c for line in diff for c in line.changes}
    assert changes["Relu"].kind == "changed"
    assert str(changes["Relu"]) == "~ Relu: float32[4] -> float32[5]"
    assert "Sum" not in changes  # its result is the same


def test_ops_that_one_has_are_added_or_removed() -> None:
    plain, _, trained = traces()
    diff = intaglio.graph_diff(plain, trained)
    (line,) = [d for d in diff if d.where and "dropout" in d.where.source]
    assert {c.kind for c in line.changes} == {"added"}
    assert "RandomUniform" in {c.op for c in line.changes}
    back = intaglio.graph_diff(trained, plain)
    kinds = {c.kind for d in back for c in d.changes if d.where and "dropout" in d.where.source}
    assert kinds == {"removed"}
    assert " added" in str(diff).split("\n")[0]


def test_lines_without_source_are_told_apart_by_number() -> None:
    plain, _, _ = traces()
    text = plain.to_text()
    first = model.__code__.co_firstlineno
    moved = text.replace(f".py:{first + 1} model", f".py:{first + 900} model")
    assert moved != text
    diff = intaglio.graph_diff(text, moved)
    assert {c.op for d in diff for c in d.changes} == {"Relu"}
