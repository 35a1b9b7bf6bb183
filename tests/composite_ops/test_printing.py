"""Where tf.print prints, and when."""

import contextlib
import io
import logging

import pytest

from intaglio import tf


def test_prints_on_standard_error_by_default(capfd):
    tf.print("a", tf.constant([1, 2]))
    out, err = capfd.readouterr()
    assert (out, err) == ("", "a [1 2]\n")


def test_follows_a_replaced_stream():
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream):
        tf.print("größe", tf.constant("x"))
    assert stream.getvalue() == 'größe "x"\n'


def test_comes_after_what_python_has_buffered(capfd):
    import sys

    print("first", end=" ", file=sys.stderr)
    tf.print("second")
    assert capfd.readouterr().err == "first second\n"


# Levels of absl.logging count downwards from 0; TensorFlow takes them too.
@pytest.mark.parametrize(
    "stream, level",
    [(n, n) for n in (logging.INFO, logging.WARNING, logging.ERROR)]
    + [(0, logging.INFO), (-1, logging.WARNING), (-2, logging.ERROR)],
)
def test_logs(stream, level, caplog):
    with caplog.at_level(logging.INFO, logger="tensorflow"):
        tf.print("x", tf.constant(1), output_stream=stream)
    assert [(r.levelno, r.message) for r in caplog.records] == [(level, "x 1")]


def test_appends_to_files(tmp_path):
    path = tmp_path / "out.txt"
    for value in (1, 2):
        tf.print("v", value, output_stream=f"file://{path}")
    assert path.read_text() == "v 1\nv 2\n"
    # Asked of TensorFlow 2.21.
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.print("v", output_stream=f"file://{tmp_path}")


def test_runs_with_the_graph_in_order(capfd):
    @tf.function
    def traced(x):
        tf.print("one", x)
        tf.print({"two": x}, [tf.constant("s")], sep=",", end="!\n")
        return x

    traced(tf.constant(1))
    traced(tf.constant(2))
    assert capfd.readouterr().err == "".join(
        [f"one {i}\n{{'two': {i}}},[\"s\"]!\n" for i in (1, 2)]
    )
    graph = traced.get_concrete_function(tf.constant(1)).graph
    types = [o.type for o in graph.get_operations()]
    assert types.count("PrintV2") == 2
    assert types.count("StringFormat") == 2


def test_unknown_streams_and_keywords():
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("x", output_stream=io.StringIO())
    with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
        tf.print("x", colour="red")
