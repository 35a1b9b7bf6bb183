"""What notebooks show: every class has its HTML, escaped and well-formed."""

from __future__ import annotations

import html.parser
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf

VOID = {"input", "br", "meta", "link"}


class Checker(html.parser.HTMLParser):
    """Raises for tags that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.shown = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] != "style":
            self.shown += data + "\n"


def shown(thing: Any) -> str:
    """The text of an object's HTML, which is checked."""
    checker = Checker()
    checker.feed(thing._repr_html_())
    assert not checker.open
    return checker.shown


@tf.function
def model(x: Any, scale: Any) -> Any:
    return tf.nn.relu(x) * scale


def called() -> Any:
    model(tf.ones([2]), 1.0)
    model(tf.ones([3]), 2.0)
    return model


THINGS: dict[str, tuple[Any, list[str]]] = {
    "function": (called, ["tf.function model", "2 traces", "scale", "why it was traced"]),
    "new function": (lambda: tf.function(called), ["has not been called yet"]),
    "concrete": (lambda: called().get_concrete_function(tf.ones([2]), 1.0), ["float32", "(2,)"]),
    "graph": (lambda: called().get_concrete_function(tf.ones([2]), 1.0).graph, ["Relu", "return"]),
    "frozen": (lambda: called().get_concrete_function(tf.ones([2]), 1.0).frozen, ["Relu"]),
    "traces": (lambda: called().traces, ["x: float32(3,), scale: 2.0", "interpreted"]),
    "explanation": (lambda: called().explain(), ["x.shape[0] was 2, now 3", "tf.constant(scale)"]),
    "compile report": (lambda: called().compile_report(), ["jit_compile=True compiles"]),
    "diff": (
        lambda: intaglio.graph_diff(*called().all_traces()[:2]),
        ["changed", ["float32[2]", "->", "float32[3]"][0]],
    ),
    "picture": (lambda: called().graph(), ["functions", "lines", "ops"]),
    "vector": (lambda: tf.constant([1.5, np.nan]), ["float32", "1 not finite", "nan"]),
    "matrix": (lambda: tf.reshape(tf.range(400), [20, 20]), ["from 0 to 399", "..."]),
    "cube": (lambda: tf.zeros([2, 2, 2], tf.complex64), ["complex64", "0.+0.j"]),
    "scalar": (lambda: tf.constant("<b>&"), ["<b>&"]),
    "empty": (lambda: tf.zeros([0, 3]), ["(0, 3)"]),
    "variable": (
        lambda: tf.Variable([1, 2], name="counts", trainable=False),
        ["counts", "not trainable"],
    ),
    "dataset": (lambda: tf.data.Dataset.range(3).map(lambda i: {"a": i}), ["3 elements", "int64"]),
    "endless": (lambda: tf.data.Dataset.range(3).repeat(), ["endless"]),
}


@pytest.mark.parametrize("name", THINGS)
def test_notebooks_show_it(name: str) -> None:
    make, says = THINGS[name]
    text = shown(make())
    for phrase in says:
        assert phrase in text, text


def test_a_symbolic_tensor_has_html() -> None:
    seen: list[str] = []

    @tf.function
    def f(x: Any) -> Any:
        seen.append(shown(x))
        return x

    f(tf.ones([2]))
    assert "symbolic tensor" in seen[0] and "(2,)" in seen[0]


def test_text_of_a_program_is_escaped() -> None:
    html = tf.constant("<i>")._repr_html_()
    assert "&lt;i&gt;" in html and "<i>" not in html
