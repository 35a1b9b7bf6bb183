"""The causes why a statement was not converted, for errors of tensors that reached it.

The unit of fallback is the statement: a generator, a comprehension or a class body runs as plain
Python, and so does a function whose source cannot be read. If a symbolic tensor must be a Python
value there, the error names the statement, its line, and what to write instead.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from intaglio.autograph import libraries, source
from intaglio.base import origins
from intaglio.base.errors import OperatorNotAllowedInGraphError

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def cause_of(error: BaseException) -> str | None:
    """The explanation for an error raised where plain Python got a tensor, or None."""
    if not isinstance(error, OperatorNotAllowedInGraphError):
        return None
    origin = innermost(error.__traceback__)
    if origin is None:
        return None
    frame, line, column = origin
    code = frame.f_code
    where = f'File "{code.co_filename}", line {line}'
    try:
        tree = source.around(code)
    except source.NoSourceError as e:
        reason = _without_source(code, str(e))
        return None if reason is None else f"{where}: {reason}"
    library = libraries.library_of(frame.f_globals)
    if library is not None and "ag__" not in code.co_freevars:
        return (
            f"{where}: {library} is not converted, and neither is what it calls. Use tf.cond and "
            "tf.while_loop there."
        )
    around = list(path(tree, line, column))
    reason = _construct(around, code) or _unconverted(code, frame)
    return None if reason is None else f"{where}: {reason}"


def innermost(trace: TracebackType | None) -> tuple[FrameType, int, int] | None:
    """The user's frame that the error comes from, with its line and column."""
    found: tuple[FrameType, int, int] | None = None
    while trace is not None:
        frame = trace.tb_frame
        if not origins.is_ours(frame.f_code):
            positions = list(frame.f_code.co_positions())
            at = positions[trace.tb_lasti // 2]
            found = frame, at[0] or trace.tb_lineno, at[2] or 0
        trace = trace.tb_next
    return found


def path(tree: ast.AST, line: int, column: int) -> Iterator[ast.AST]:
    """The syntax nodes around a position in the source, outermost first."""
    for child in ast.iter_child_nodes(tree):
        start = getattr(child, "lineno", None)
        if start is None:
            yield from path(child, line, column)
            continue
        decorators = getattr(child, "decorator_list", ())
        first = min([start, *(d.lineno for d in decorators)])
        after = (child.end_lineno, child.end_col_offset)  # type: ignore[attr-defined]  # nodes with a line have it
        begun = line > start or column >= child.col_offset  # type: ignore[attr-defined]  # nodes with a line have it
        if begun and first <= line and (line, column) < after:
            yield child
            yield from path(child, line, column)
            return


def _construct(path: list[ast.AST], code: CodeType) -> str | None:
    """The unconverted construct around the position, and what to write instead."""
    for node in reversed(path):
        if isinstance(node, _COMPREHENSIONS):
            return _comprehension(node)
        if isinstance(node, ast.ClassDef):
            return (
                f"the body of class '{node.name}' is not converted, only its methods are. Work out "
                "the value in front of the class, and use its name inside."
            )
        if isinstance(node, ast.AsyncFunctionDef):
            return (
                f"'{node.name}' is `async`, which runs as Python and is not converted. Move the tensor "
                "code to an ordinary function, and call that."
            )
        if isinstance(node, _FUNCTIONS):
            if code.co_flags & inspect.CO_GENERATOR:
                return (
                    f"'{node.name}' is a generator, which runs as Python and is not converted. Collect "
                    "the values in a list with a `for` statement, or make it a tf.data.Dataset with "
                    "from_generator."
                )
            return None
        if isinstance(node, ast.Lambda):
            return None
        if isinstance(node, (ast.MatchValue, ast.match_case)):
            return (
                "a `case` of alternatives inside a shape is Python's. Write a case for each "
                "alternative."
            )
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            item, bag = ast.unparse(node.left), ast.unparse(node.comparators[0])
            return (
                f"`{ast.unparse(node)}` compares in Python. Write "
                f"tf.reduce_any(tf.equal({item}, {bag}))."
            )
    return None


def _comprehension(node: Any) -> str:
    kind = {
        ast.ListComp: "list comprehension",
        ast.SetComp: "set comprehension",
        ast.DictComp: "dict comprehension",
        ast.GeneratorExp: "generator expression",
    }[type(node)]
    over = ast.unparse(node.generators[0].iter)
    return (
        f"`{ast.unparse(node)}` is a {kind}, which runs as Python and is not converted. Write a `for` "
        f"statement that appends to a list, or tf.map_fn(f, {over}) and tf.boolean_mask."
    )


def _without_source(code: CodeType, why: str) -> str | None:
    if "ag__" in code.co_freevars:
        return None
    return (
        f"'{code.co_name}' is not converted: {why}. AutoGraph reads the source of a function: keep it in "
        "a file, or give the text that is executed to linecache.cache under the name that it is "
        "compiled with; or use tf.cond and tf.while_loop."
    )


def _unconverted(code: CodeType, frame: FrameType) -> str | None:
    """The reason why a function with source was not converted, if it is known."""
    if "ag__" in code.co_freevars or "ag__" in frame.f_locals:
        return None
    if code.co_name == "<module>":
        return None
    return (
        f"'{code.co_name}' is not converted: {_caller(frame)}. Make it a tf.function, call it from "
        "converted code, or use tf.cond and tf.while_loop."
    )


def _caller(frame: FrameType | None) -> str:
    while frame is not None:
        library = libraries.library_of(frame.f_globals)
        if library is not None and not origins.is_ours(frame.f_code):
            return f"{library} calls it, and what a library calls stays Python"
        frame = frame.f_back
    return (
        "it is marked with do_not_convert or autograph=False, or AutoGraph has warned that it could "
        "not transform it"
    )
