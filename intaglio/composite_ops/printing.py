"""`tf.print`.

Follows https://www.tensorflow.org/api_docs/python/tf/print.
"""

from __future__ import annotations

import logging
import pprint
import sys
from typing import Any

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import string
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor

# Levels of logging, and of absl.logging, which count from INFO downwards.
_LEVELS = {
    logging.INFO: "log(info)",
    logging.WARNING: "log(warning)",
    logging.ERROR: "log(error)",
    0: "log(info)",
    -1: "log(warning)",
    -2: "log(error)",
}


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
    **kwargs: Any,
) -> Any:
    """Prints its inputs whenever the program reaches it: in a graph, when the graph runs.

    Tensors may be inside structures. `summarize` elements of both ends of each dimension
    are shown, -1 shows all. `output_stream` is `sys.stderr` (the default), `sys.stdout`, a
    level of `logging` or `absl.logging`, or `"file://..."`, to which the text is appended.

    Returns None eagerly, the operation in a graph. Raises ValueError for other streams.

    `sep` stands between the inputs and `end` after them.

    >>> import sys
    >>> tf.print("x:", tf.constant([1, 2]), output_stream=sys.stdout)
    x: [1 2]
    """
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream = _stream(output_stream)
    only: Any = inputs[0] if len(inputs) == 1 else None
    if _is_text(only):
        text = convert.to_tensor(only)
        if text.dims is None:
            text = _formatted(inputs, sep, summarize, name)
    else:
        text = _formatted(inputs, sep, summarize, name)
    return raw.PrintV2(text, output_stream=stream, end=end, name=name)


def _is_text(value: Any) -> bool:
    """True for a string scalar, or a string tensor that may be one."""
    if isinstance(value, CompositeTensor) or not _is_tensor(value):
        return False
    return value.dtype is string and not value.shape.rank


def _stream(stream: Any) -> str:
    if stream is None or stream is sys.stderr:
        return "stderr"
    if stream is sys.stdout:
        return "stdout"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if isinstance(stream, int) and stream in _LEVELS:
        return _LEVELS[stream]
    level = getattr(stream, "__name__", "")
    if level in ("info", "warning", "warn", "error") and callable(stream):
        return f"log({'warning' if level == 'warn' else level})"
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams "
        "are sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, "
        "tf.logging.error. File needs to be in the form of 'file://<filepath>'."
    )


def _is_tensor(value: Any) -> bool:
    """True for tensors, variables, and composite values with a text form."""
    kind = type(value)
    return (
        isinstance(value, Tensor) or hasattr(kind, "__tf_tensor__") or hasattr(kind, "__tf_text__")
    )


def formatted(
    template: str, values: Any, placeholder: str, summarize: int, name: str | None
) -> Tensor:
    """The template with tensors and composite values that have a text in its placeholders."""
    texts = [getattr(type(value), "__tf_text__", None) for value in values]
    options: dict[str, Any] = {"placeholder": placeholder, "summarize": summarize}
    if not any(texts):
        return raw.StringFormat(list(values), template=template, **options, name=name)
    pieces = template.split(placeholder)
    parts: list[Any] = []
    values_of_piece: list[Any] = []
    piece = pieces[0]
    for value, text, after in zip(values, texts, pieces[1:], strict=True):
        if text is None:
            values_of_piece.append(value)
            piece += placeholder + after
        else:
            parts.append(raw.StringFormat(values_of_piece, template=piece, **options))
            parts.append(text(value, summarize))
            values_of_piece, piece = [], after
    parts.append(raw.StringFormat(values_of_piece, template=piece, **options))
    return raw.StringJoin(parts, name=name)


def _formatted(inputs: Any, sep: str, summarize: int, name: str | None) -> Tensor:
    tensors = [leaf for leaf in nest.flatten(inputs) if _is_tensor(leaf)]
    blank = nest.map_structure(lambda leaf: "" if _is_tensor(leaf) else leaf, inputs)
    placeholder = _absent_from(" ".join([pprint.pformat(item) for item in blank]))
    template = sep.join([_template(item, placeholder) for item in inputs])
    return formatted(
        template.replace(f"'{placeholder}'", placeholder),
        tensors,
        placeholder,
        summarize,
        f"{name}_format" if name else "StringFormat",
    )


def _template(value: Any, placeholder: str) -> str:
    """The value's text with the placeholder where tensors are."""
    if isinstance(value, str):
        return value
    holes = [placeholder if _is_tensor(v) else v for v in nest.flatten(value)]
    filled = nest.pack_sequence_as(value, holes)
    return filled if _is_tensor(value) else pprint.pformat(filled)


def _absent_from(text: str) -> str:
    """A placeholder that the text does not contain."""
    placeholder, n = "{}", 0
    while placeholder in text:
        n += 1
        placeholder = f"{{{'-' * n}}}"
    return placeholder


__all__ = ["print"]
