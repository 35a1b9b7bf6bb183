"""`raise` and `assert` under tensors: the graph raises the user's own exception.

The statement becomes a function of the names that it reads, at the user's line. If no tensor decides whether
Python reaches it, it runs and raises while tracing. In a branch or loop body the graph gets an Assert that
always fails, and whose error is raised by the statement itself, called with the values of the names when the
graph runs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from intaglio.autograph import regions
from intaglio.autograph.conditionals import check_condition, decided, is_staged
from intaglio.autograph.handlers import check_handlers
from intaglio.autograph.optional import Maybe
from intaglio.base import dtypes, nest, origins
from intaglio.base.errors import InvalidArgumentError
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.op import RAISES
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import from_array
from intaglio.trace import control_flow

Statement = Callable[..., Any]
_UNREADABLE = (dtypes.resource, dtypes.variant)


class FailedAssertion(InvalidArgumentError, AssertionError):
    """An `assert` on a tensor does not hold.

    An AssertionError, as in Python, and an InvalidArgumentError, as in TensorFlow.
    """

    def __init__(self, text: str) -> None:
        super().__init__(None, None, f"assertion failed: [{text}]")


def raise_stmt(statement: Statement, *values: Any) -> None:
    """A `raise` statement: `statement(*values)` raises. Always raises itself.

    Where nothing happens before it in a run it raises now, while tracing, as in TensorFlow.
    """
    region = regions.current()
    if region is None or region.decided:
        statement(*_read(values))
        return
    error = RaisedByGraph(statement, _read(values))
    setattr(error.sample, regions.MARK, error)
    raise error.sample


def assert_stmt(test: Any, statement: Statement, *values: Any) -> None:
    """An `assert` statement: `statement(*values)` raises the AssertionError."""
    test = decided(test)
    if is_staged(test):
        check_condition(test, "assert statement")
        error = RaisedByGraph(statement, _read(values), AssertionError())
        error.unless(control_flow.as_scalar(test))
    elif not test:
        statement(*_read(values))


def _read(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([v.read() if type(v) is Maybe else v for v in values])


class RaisedByGraph:
    """The exception of a statement, raised when a graph runs."""

    def __init__(
        self, statement: Statement, values: tuple[Any, ...], sample: Exception | None = None
    ) -> None:
        self.statement = statement
        self.values = values
        self.tensors = [
            v
            for v in nest.flatten(values)
            if isinstance(v, SymbolicTensor) and v.dtype not in _UNREADABLE
        ]
        # The exception as it is for values of zero: it has the class, for handlers to see.
        with door.eagerly():
            zeros = list(map(_zero, self.tensors))
        self.sample = sample or self._raised(zeros)

    def record(self) -> None:
        """Records the exception at the current point of the graph."""
        self.unless(False)

    def unless(self, test: Any) -> None:
        """Records the exception for the case that the test does not hold."""
        check_handlers(self.sample)
        name = convert.to_tensor(type(self.sample).__name__)
        node = raw.Assert(convert.to_tensor(test), [name, *self.tensors])
        node.attrs = {**node.attrs, RAISES: self.exception}

    def exception(self, arrays: list[Any]) -> Exception:
        """The exception for the values that the graph has computed."""
        error = self._raised([from_array(a) for a in arrays[1:]])
        if type(error) is AssertionError:
            failed = FailedAssertion(str(error) or "Assertion error")
            return failed.with_traceback(error.__traceback__)
        return error

    def _raised(self, values: list[Any]) -> Exception:
        """The exception that the statement raises for these values of the tensors."""
        computed = dict(zip(map(id, self.tensors), values, strict=True))
        arguments = nest.map_structure(lambda v: computed.get(id(v), v), self.values)
        try:
            with door.eagerly():
                self.statement(*arguments)
        except Exception as e:
            return e.with_traceback(_of_users(e.__traceback__))
        raise AssertionError("a raise statement came to its end")


def _zero(tensor: Any) -> Tensor:
    sizes = [d or 1 for d in tensor.dims or ()]
    if tensor.dtype is dtypes.string:
        return convert.to_tensor(np.full(sizes, b"", object))
    return convert.to_tensor(np.zeros(sizes, tensor.dtype.numpy), tensor.dtype)


def _of_users(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and origins.is_ours(trace.tb_frame.f_code):
        trace = trace.tb_next
    return trace
