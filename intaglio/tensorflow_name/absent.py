"""Errors for names that TensorFlow has and Intaglio does not have."""

from __future__ import annotations

COVERAGE = "docs/coverage.md"


def module_message(fullname: str) -> str:
    """The message of a ModuleNotFoundError for a module under the name `tensorflow`."""
    return (
        f"No module named {fullname!r}: `tensorflow` is Intaglio in this process, which "
        f"has no such module. {COVERAGE} lists what there is."
    )


def converter_message(fullname: str) -> str:
    """The message of a ModuleNotFoundError for a module of tf2onnx, where it is not installed."""
    return (
        f"No module named {fullname!r}: tf2onnx is not installed, and what Intaglio has in its place is "
        "tf2onnx.convert.from_function and from_keras. Install it with `pip install tf2onnx`."
    )
