"""Pictures: well-formed, self-contained, by function, line and op, with what is compiled in colour."""

from __future__ import annotations

import pathlib
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf
from intaglio.insight.layout import layout


def activation(x: Any) -> Any:
    return tf.nn.relu(x) * 2.0


@tf.function
def model(x: Any, n: Any) -> Any:
    for _ in tf.range(n):
        if tf.reduce_sum(x) > 100.0:
            x = x - "<&>".count("<")
        x = activation(x) + 1.0
    return x


def trace() -> Any:
    return model.get_concrete_function(tf.TensorSpec([2, 3]), tf.TensorSpec([], tf.int32))


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in ET.fromstring(svg).iter() if t.tag.endswith("text")]


@pytest.mark.parametrize(
    ("level", "says"),
    [
        ("functions", ["inputs", "model", "activation"]),
        ("lines", ["return tf.nn.relu(x)", "for _ in tf.range(n)"]),
        ("ops", ["while", "Relu"]),
    ],
)
def test_levels_have_their_boxes(level: str, says: list[str]) -> None:
    svg = intaglio.picture(trace(), level).svg
    found = " ".join(texts(svg))
    for text in says:
        assert text[:16] in found, found
    counts = {
        n: len(texts(intaglio.picture(trace(), n).svg)) for n in ("functions", "lines", "ops")
    }
    assert counts["functions"] < counts["lines"] < counts["ops"]


def test_another_level_is_refused() -> None:
    with pytest.raises(ValueError, match="level is one of functions, lines, ops, not 'nodes'"):
        intaglio.picture(trace(), "nodes")


def test_pages_load_nothing_and_links_lead_somewhere(tmp_path: pathlib.Path) -> None:
    page = intaglio.picture(trace()).html
    assert not re.search(r"(src|href)=[\"'](?!#)", page) and "@import" not in page
    assert "<script" not in page
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets and targets <= set(re.findall(r'id="([^"]+)"', page))
    assert "prefers-color-scheme:dark" in page
    path = tmp_path / "model.html"
    intaglio.picture(trace()).save(path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    intaglio.picture(trace()).save(tmp_path / "model.svg")
    ET.parse(tmp_path / "model.svg")


def test_machine_code_has_a_colour() -> None:
    @tf.function(jit_compile=True)
    def compiled(x: Any) -> Any:
        return tf.tanh(x @ x) + 1.0

    trace = compiled.get_concrete_function(tf.TensorSpec([4, 4]))
    assert 'class="code"' not in intaglio.picture(trace, "ops").svg  # nothing has been compiled yet
    compiled(tf.ones([4, 4]))
    assert 'class="code"' in compiled.graph("ops").svg


def test_a_function_without_traces_has_no_picture() -> None:
    with pytest.raises(ValueError, match="activation has no trace yet"):
        tf.function(activation).graph()


@given(
    st.integers(1, 40).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=80),
        )
    )
)
@settings(max_examples=60, deadline=None)
def test_no_two_boxes_stand_in_one_place(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    found = layout(count, edges).positions
    assert len(found) == count
    for i, (x, y) in enumerate(found):
        for other_x, other_y in found[:i]:
            assert abs(x - other_x) > 0.99 or abs(y - other_y) > 0.99


def test_a_large_constant_is_shortened() -> None:
    large = np.full((300, 300), 0.123456789, np.float32)
    f = tf.function(lambda x: tf.reduce_sum(x * tf.constant(large)))
    f(tf.constant(1.0))
    for shown in (f.graph().html, f._repr_html_(), f.trace(tf.constant(1.0))._repr_html_()):
        assert len(shown) < 60_000 and " ... " in shown
    assert len(f.to_text()) > large.nbytes


def test_the_counter_of_a_loop_is_in_its_line() -> None:
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = x + 1.0
        return x

    f(tf.constant(1.0))
    assert "other ops" not in f.graph().svg and "for _ in tf.range(3)" in f.graph().svg
