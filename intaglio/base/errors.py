"""The errors TensorFlow documents under `tf.errors`, and those of tracing.

Follows https://www.tensorflow.org/api_docs/python/tf/errors.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, NamedTuple

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An op failed while running. `OpError(node_def, op, message, error_code)`."""

    # The part of the error's text after the message.
    _note = ""

    def __init__(
        self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN, *args: Any
    ) -> None:
        super().__init__(*args)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._payloads: dict[str, bytes] = {}

    @property
    def message(self) -> str:
        """The message."""
        return self._message

    @property
    def op(self) -> Any:
        """The `tf.Operation` that failed, if there is one."""
        return self._op

    @property
    def error_code(self) -> int:
        """The canonical status number, one of the constants of this module."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The failing node, if there is one."""
        return self._node_def

    @property
    def experimental_payloads(self) -> dict[str, bytes]:
        """Further details as bytes by name; empty here."""
        return self._payloads

    def __str__(self) -> str:
        return self._message + self._note

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self._message, self._error_code)


def _rebuild(cls: type[OpError], message: str, code: int) -> OpError:
    return OpError(None, None, message, code) if cls is OpError else cls(None, None, message)


def _status(name: str, code: int, doc: str) -> type[OpError]:
    def __init__(self: OpError, node_def: Any, op: Any, message: str, *args: Any) -> None:
        OpError.__init__(self, node_def, op, message, code, *args)

    error_class = type(
        name, (OpError,), {"__init__": __init__, "__doc__": doc, "__module__": __name__}
    )
    CLASS_OF[code] = error_class
    CODE_OF[error_class] = code
    return error_class


CLASS_OF: dict[int, type[OpError]] = {}
CODE_OF: dict[type[OpError], int] = {}

CancelledError = _status("CancelledError", CANCELLED, "The operation was cancelled.")
UnknownError = _status(
    "UnknownError", UNKNOWN, "An error of no other class, often from Python code."
)
InvalidArgumentError = _status(
    "InvalidArgumentError", INVALID_ARGUMENT, "An op received an argument it cannot use."
)
DeadlineExceededError = _status(
    "DeadlineExceededError", DEADLINE_EXCEEDED, "A deadline passed first."
)
NotFoundError = _status(
    "NotFoundError", NOT_FOUND, "Something requested, a file for instance, is not there."
)
AlreadyExistsError = _status(
    "AlreadyExistsError", ALREADY_EXISTS, "Something to be created is there already."
)
PermissionDeniedError = _status(
    "PermissionDeniedError", PERMISSION_DENIED, "The caller may not do this."
)
ResourceExhaustedError = _status(
    "ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory or another supply ran out."
)
FailedPreconditionError = _status(
    "FailedPreconditionError",
    FAILED_PRECONDITION,
    "The system is not in the state that the op needs.",
)
AbortedError = _status("AbortedError", ABORTED, "The operation was aborted, usually by a conflict.")
OutOfRangeError = _status("OutOfRangeError", OUT_OF_RANGE, "An iteration went past its end.")
UnimplementedError = _status("UnimplementedError", UNIMPLEMENTED, "The op does not do this.")
InternalError = _status("InternalError", INTERNAL, "An invariant of the system is broken.")
UnavailableError = _status(
    "UnavailableError", UNAVAILABLE, "The runtime is unavailable at present."
)
DataLossError = _status("DataLossError", DATA_LOSS, "Data is lost or corrupted.")
UnauthenticatedError = _status(
    "UnauthenticatedError", UNAUTHENTICATED, "The caller is not who it should be."
)


class UnsupportedFileError(UnimplementedError, NotImplementedError):
    """A file of TensorFlow's format uses a feature that is not supported."""

    def __init__(self, message: str) -> None:
        UnimplementedError.__init__(self, None, None, message)

    def __reduce__(self) -> Any:
        return type(self), (self._message,)


class RecursionLimitError(ResourceExhaustedError, RecursionError):
    """A function has exceeded the limit on its recursion depth."""

    def __init__(self, message: str) -> None:
        ResourceExhaustedError.__init__(self, None, None, message)

    def __reduce__(self) -> Any:
        return type(self), (self._message,)


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor was used where Python needs a value now."""


class InaccessibleTensorError(ValueError):
    """A tensor was used outside the graph that defines it."""


class ShapeError(ValueError):
    """Shape inference has found that an op's inputs do not fit together.

    Graph building raises it as the ValueError it is; eager execution turns it into
    InvalidArgumentError, with the text `eager` where the kernel's message differs.
    """

    def __init__(self, message: str, eager: str | None = None) -> None:
        super().__init__(message)
        self.eager = message if eager is None else eager


def invalid_argument(message: str) -> OpError:
    """An InvalidArgumentError that names no node yet; the door adds the op's name."""
    return InvalidArgumentError(None, None, message)


# NumPy's message for arrays that exceed the address space, before it allocates them.
_TOO_LARGE = (
    "array is too big",
    "Maximum allowed dimension exceeded",
    "maximum supported dimension",
)


def from_kernel(error: BaseException, reaches_outside: str = "") -> type[OpError] | None:
    """The class of the error that replaces one that NumPy or Python raised in a kernel.

    None for exceptions that are no consequence of the kernel's arguments: those that an op which
    `reaches_outside` may have got from somebody's Python code.
    """
    if isinstance(error, OpError):
        return type(error)
    if isinstance(error, MemoryError):
        return ResourceExhaustedError
    if isinstance(error, UnicodeError):
        return None
    if isinstance(error, ValueError) and str(error).startswith(_TOO_LARGE):
        return ResourceExhaustedError
    if isinstance(error, (ValueError, IndexError, ZeroDivisionError)):
        return InvalidArgumentError
    unexpected = (ArithmeticError, AssertionError, AttributeError, LookupError)
    if isinstance(error, unexpected) and not reaches_outside:
        return InvalidArgumentError
    return None


# NumPy's message for operands whose shapes do not broadcast.
_BROADCAST = re.compile(
    r"operands could not be broadcast together with shapes \(([\d,]*)\) \(([\d,]*)\) ?"
)


# NumPy's message for an array that is converted to a single number.
_NO_SCALAR = "only 0-dimensional arrays can be converted"


def kernel_message(error: BaseException) -> str:
    """The message of a kernel's error, with NumPy's messages replaced by TensorFlow's."""
    found = _BROADCAST.fullmatch(str(error))
    if found is None:
        is_scalar = isinstance(error, TypeError) and str(error).startswith(_NO_SCALAR)
        return "An input that must be scalar is not" if is_scalar else str(error)
    first, second = (dims.rstrip(",") for dims in found.groups())
    return f"Incompatible shapes: [{first}] vs. [{second}]"


# The attribute of an error that has the steps.
_STEPS = "_intaglio_steps"


class Step(NamedTuple):
    """A branch or iteration that an error passed through: its description, and the graph that ran."""

    text: str
    graph: Any


def note_step(error: BaseException, text: str, graph: Any) -> None:
    """Adds a branch or iteration to an error that passes through the kernel which runs it.

    `text` completes "It was ...", as in "in the else branch". Steps are noted innermost first.
    """
    # A class with slots and without a dict keeps no notes.
    with contextlib.suppress(AttributeError):
        error.__dict__.setdefault(_STEPS, []).append(Step(text, graph))


def take_steps(error: BaseException) -> list[Step]:
    """Removes and returns the steps noted on an error, outermost first, as it may be raised again."""
    return getattr(error, "__dict__", {}).pop(_STEPS, [])[::-1]


class PyCTError(Exception):
    """An error of AutoGraph's own."""


class AutoGraphError(PyCTError):
    """An error of AutoGraph's own."""


class ConversionError(AutoGraphError, ValueError):
    """A function's source is not available for conversion."""


class StagingError(AutoGraphError):
    """An error of user code during tracing whose class cannot be constructed again with another message."""


class MultilineMessageKeyError(KeyError):
    """A KeyError whose message prints as it is written."""

    def __init__(self, message: str, original_key: Any) -> None:
        super().__init__(original_key)
        self._message = message

    def __str__(self) -> str:
        return self._message
