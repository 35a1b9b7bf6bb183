"""Formatting tensors into strings, and printing strings."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from intaglio.base import errors, files
from intaglio.base.dtypes import string
from intaglio.base.log import logger
from intaglio.base.shapes import brackets
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text.tensor_text import printed

STREAMS = ("stdout", "stderr", "log(info)", "log(warning)", "log(error)")


@op
class StringFormat(Op):
    """The template with every placeholder replaced by a tensor's text."""

    signature = (
        "inputs: *T; template: str = '%s', placeholder: str = '%s', summarize: int = 3"
        " -> output: string"
    )
    reaches_outside = "prints"

    def infer(self, inputs, template: str, placeholder: str) -> Spec:
        holes = template.count(placeholder)
        if holes != len(inputs):
            raise errors.ShapeError(
                f"num placeholders in template and num inputs must match: {holes} vs. {len(inputs)}"
            )
        return Spec(string, ())

    def kernel(self, inputs, template: str, placeholder: str, summarize: int) -> Any:
        parts = _bytes(template).split(_bytes(placeholder))
        if len(parts) - 1 != len(inputs):
            raise errors.ShapeError(
                "num placeholders in template and num inputs must match: "
                f"{len(parts) - 1} vs. {len(inputs)}"
            )
        texts = [printed(array, summarize) for array in inputs]
        result = np.empty((), object)
        result[()] = parts[0] + b"".join(
            [text + part for text, part in zip(texts, parts[1:], strict=True)]
        )
        return result


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@op
class PrintV2(Op):
    """Prints a string on a stream, into a file, or into the log."""

    signature = r"input: string; output_stream: str = 'stderr', end: str = '\n' ->"
    stateful = True
    reaches_outside = "prints"

    def infer(self, input: Spec, output_stream: str) -> None:
        if not known(output_stream):
            raise ValueError(unknown(output_stream))

    def kernel(self, input, output_stream: str, end: str) -> None:
        array: Any = np.asarray(input)
        if array.ndim:
            raise errors.invalid_argument(
                f"Input is expected to be scalar, but got {brackets(array.shape)}"
            )
        write(output_stream, array[()] + _bytes(end))


def known(stream: str) -> bool:
    """True for the name of a stream, or of a file."""
    return stream in STREAMS or stream.startswith("file://")


def unknown(stream: str) -> str:
    """The error for a stream that does not exist."""
    return (
        f"Unknown output stream: {stream}, Valid streams are: {' '.join(STREAMS)} or file://<path>"
    )


def write(stream: str, text: bytes) -> None:
    """Writes to a stream by its name. Raises InvalidArgumentError for other names."""
    if stream == "stderr":
        _to_stream(sys.stderr, 2, text)
    elif stream == "stdout":
        _to_stream(sys.stdout, 1, text)
    elif stream.startswith("file://") and stream != "file://":
        path = stream.removeprefix("file://")
        with files.explained(path), open(path, "ab") as file:
            file.write(text)
    elif stream in STREAMS:
        say = getattr(logger(), stream[4:-1])
        say(text.decode("utf-8", "replace").removesuffix("\n"))
    else:
        raise errors.invalid_argument(unknown(stream))


def _to_stream(stream: Any, descriptor: int, text: bytes) -> None:
    """After what Python has buffered. Notebooks replace the streams, and have no bytes."""
    if stream is None:
        os.write(descriptor, text)
        return
    stream.flush()
    raw = getattr(stream, "buffer", None)
    if raw is None:
        stream.write(text.decode("utf-8", "replace"))
        stream.flush()
    else:
        raw.write(text)
        raw.flush()
