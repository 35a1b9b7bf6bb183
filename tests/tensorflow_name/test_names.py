"""The name `tensorflow` in a process that asked for it."""

from __future__ import annotations

from tests.tensorflow_name.process import printed_by


def test_modules_under_the_name_are_those_of_intaglio() -> None:
    assert printed_by(
        """
        import sys
        import intaglio
        from intaglio import tf
        intaglio.install_as_tensorflow()
        intaglio.install_as_tensorflow()
        import tensorflow, tensorflow.io as io
        from tensorflow.math import reduce_sum
        from tensorflow.python.eager import context
        import tensorflow.python.ops.math_ops as math_ops
        print(tensorflow is tf, io is tf.io, reduce_sum is tf.reduce_sum)
        print(context.executing_eagerly(), math_ops.is_nan is tf.math.is_nan)
        print(tf.__name__, tf.io.__name__, "executing_eagerly" in dir(context))
        print("keras" in sys.modules)
        """
    ) == ["True True True", "True True", "intaglio.tf intaglio.tf.io True", "False"]


def test_specs_are_found_under_the_name() -> None:
    names = ("tensorflow", "tensorflow.io", "tensorflow.python.eager.context")
    assert printed_by(
        f"""
        import importlib, importlib.resources, importlib.util
        import intaglio
        intaglio.install_as_tensorflow()
        for name in {names}:
            before = importlib.util.find_spec(name)
            module = importlib.import_module(name)
            after = importlib.util.find_spec(name)
            print(before.name, after.name, module.__spec__ is after)
        from intaglio import tf
        folder = importlib.resources.files("tensorflow.io")
        print((folder / "__init__.py").read_text() == open(tf.io.__file__).read())
        print(importlib.reload(tf.io) is tf.io, tf.io.__name__, tf.io.__path__ != [])
        """
    ) == [*[f"{name} {name} True" for name in names], "True", "True intaglio.tf.io True"]


def test_what_is_missing_is_named() -> None:
    said = printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        for statement in (
            "import tensorflow.lite",
            "from tensorflow.python.nowhere import x",
            "from tensorflow.experimental.dtensor import Grid",
        ):
            try:
                exec(statement)
            except ImportError as error:
                print(type(error).__name__, error)
        """
    )
    assert said[0].startswith("ModuleNotFoundError No module named 'tensorflow.lite'")
    assert "docs/coverage.md" in said[0]
    assert "'tensorflow.python.nowhere'" in said[1]
    assert said[2].startswith("ImportError cannot import name 'Grid'")


def test_another_tensorflow_that_is_imported_already_is_an_error() -> None:
    said = printed_by(
        """
        import sys, types
        sys.modules["tensorflow"] = types.ModuleType("tensorflow")
        import intaglio
        try:
            intaglio.install_as_tensorflow()
        except ImportError as error:
            print(error)
        """
    )
    assert "already imported" in said[0] and "intaglio run" in said[0]


def test_nothing_is_installed_unless_requested() -> None:
    assert printed_by(
        """
        import sys
        from intaglio import tf
        print(any("tensorflow" in name for name in sys.modules), len(sys.meta_path) < 5)
        """
    ) == ["False True"]
