"""`tf.autograph` itself. TensorFlow was asked where no line says otherwise."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import subprocess
import sys
from typing import Any

import pytest

from intaglio import tf
from intaglio.base import errors

from .checklist import item


def absolute(x: Any) -> Any:
    if x > 0:
        return x
    return -x


def calling(x: Any) -> Any:
    return absolute(x)


class Scale:
    by = 3

    def apply(self, x: Any) -> Any:
        return x * self.by if x > 0 else x


def test_converted_names_end_without_a_number() -> None:
    def step_3(x: Any) -> Any:
        return x

    assert tf.autograph.to_code(step_3).startswith("def tf__step(x):\n")  # as TensorFlow 2.21


def test_to_code_shows_what_runs() -> None:
    text = tf.autograph.to_code(absolute)
    assert text.startswith("def tf__absolute(x):\n")
    for part in ("ag__.if_stmt(ag__.ld(x) > 0, if_body", "ag__.FunctionScope('absolute'"):
        assert part in text
    assert "recursive=True" in text
    assert "recursive=False" in tf.autograph.to_code(absolute, recursive=False)
    compile(text, "text", "exec")


def test_to_code_has_the_form_of_tensorflow() -> None:
    """Marks of what converted code creates are for the analysis of aliases, not for readers."""

    def containers(x):
        first, *rest = [x, {"a": [1]}, (2,)]
        rest[0]["a"] += [x]
        return tf.gather(first, [n + 1 for n in rest[0]["a"][:1]])

    text = tf.autograph.to_code(containers)
    assert "created" not in text and "rest = rest" not in text
    assert "first, *rest = [ag__.ld(x), {'a': [1]}, (2,)]" in text


def test_to_code_of_other_callables() -> None:
    """TensorFlow refuses traced functions and partials; here the function in them is meant."""
    wanted = tf.autograph.to_code(absolute)
    traced = tf.function(absolute)
    assert tf.autograph.to_code(traced.python_function) == wanted
    assert tf.autograph.to_code(traced) == wanted
    assert tf.autograph.to_code(functools.partial(absolute, 1)) == wanted
    assert "ld(y) + 1" in tf.autograph.to_code(lambda y: y + 1)


def test_to_graph_returns_a_function_of_values_and_of_tensors() -> None:
    twin = tf.autograph.to_graph(absolute)
    assert twin(-3) == 3
    assert int(twin(tf.constant(-3))) == 3
    assert int(tf.function(twin)(tf.constant(-3))) == 3
    with tf.Graph().as_default():
        assert isinstance(twin(tf.constant(-3)), tf.Tensor)


def test_to_graph_of_methods_keeps_their_object() -> None:
    """TensorFlow's wants the object as an argument."""
    scale = Scale()
    scale.by = 5
    assert tf.autograph.to_graph(scale.apply)(2) == 10
    assert tf.autograph.to_graph(Scale.apply)(scale, 2) == 10


def test_to_graph_without_recursion_converts_one_function() -> None:
    with tf.Graph().as_default():
        x = tf.constant(1)
        assert isinstance(tf.autograph.to_graph(calling)(x), tf.Tensor)
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
            tf.autograph.to_graph(calling, recursive=False)(x)
        alone = tf.autograph.to_graph(absolute, recursive=False)
        assert isinstance(alone(x), tf.Tensor)


@pytest.mark.parametrize(
    "entity", [3, Scale, len, Scale()], ids=["number", "class", "builtin", "object"]
)
@pytest.mark.parametrize("convert", [tf.autograph.to_code, tf.autograph.to_graph])
def test_what_has_no_source_is_refused(convert: Any, entity: Any) -> None:
    """The documentation says ValueError, TensorFlow raises a ConversionError: it is both."""
    with pytest.raises(ValueError, match="doesn't expose a __code__ object") as caught:
        convert(entity)
    assert type(caught.value) is errors.ConversionError
    assert isinstance(caught.value, errors.AutoGraphError)


def test_the_source_of_a_converted_function_is_the_users() -> None:
    """TensorFlow's is the generated code: that is what `to_code` is for here."""
    twin = tf.autograph.to_graph(absolute)
    assert inspect.getsource(twin) == inspect.getsource(absolute)
    assert inspect.signature(twin) == inspect.signature(absolute)
    assert (twin.__name__, twin.__module__) == ("absolute", __name__)


@item("converts: the tools")
def test_features() -> None:
    feature = tf.autograph.experimental.Feature
    names = {
        "ALL",
        "ASSERT_STATEMENTS",
        "AUTO_CONTROL_DEPS",
        "BUILTIN_FUNCTIONS",
        "EQUALITY_OPERATORS",
        "LISTS",
        "NAME_SCOPES",
    }
    assert {f.name for f in feature} == names
    assert all(f.name == f.value for f in feature)
    assert set(feature.all()) == set(feature)
    rest = {f.name for f in feature.all_but([feature.LISTS])}
    assert rest == names - {"ALL", "LISTS"}
    assert {f.name for f in feature.all_but(feature.LISTS)} == rest
    for options in (feature.LISTS, (feature.ALL,), feature.all(), None):
        f = tf.function(absolute, experimental_autograph_options=options)
        assert int(f(tf.constant(-2))) == 2


@item("converts: the tools")
def test_trace_prints_while_tracing(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        tf.autograph.trace("x is", x.shape)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capsys.readouterr().out == "x is ()\n"


def fresh(mark: str) -> Any:
    """A function of its own, never converted before."""
    space: dict[str, Any] = {}
    import linecache

    text = f"def fresh_{mark}(x):\n    return x if x > 0 else -x\n"
    name = f"<fresh {mark}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space)
    return space[f"fresh_{mark}"]


@pytest.mark.parametrize(("level", "lines"), [(0, 0), (1, 1), (2, 2), (3, 3)], ids=lambda v: str(v))
@item("converts: the tools")
def test_verbosity(
    level: int, lines: int, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """TensorFlow's lines are others; that there are more with a higher level is the same."""
    caplog.set_level(logging.INFO, logger="tensorflow")
    tf.autograph.set_verbosity(level, alsologtostdout=True)
    try:
        tf.function(fresh(f"at_{level}"))(tf.constant(1))
    finally:
        tf.autograph.set_verbosity(0)
    printed = capsys.readouterr().out
    assert len(caplog.records) == lines
    for text, least in (("Converted <f", 1), ("Converted call: <f", 2), ("def tf__", 3)):
        assert (text in printed) is (level >= least)


@item("converts: the tools")
def test_the_environment_sets_the_first_verbosity() -> None:
    program = (
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "from intaglio import tf\n"
        "from tests.autograph.test_api import absolute\n"
        "tf.function(absolute)(tf.constant(1))\n"
    )
    for level, wanted in (("1", True), ("0", False), ("", False)):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "AUTOGRAPH_VERBOSITY": level},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ("Converted <function absolute" in run.stderr) is wanted


@item("raises: out of scope")
def test_errors_have_tensorflows_ancestors() -> None:
    assert errors.StagingError.__mro__[1:4] == (errors.AutoGraphError, errors.PyCTError, Exception)
    assert issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)
    assert issubclass(errors.InaccessibleTensorError, ValueError)
