"""The fallback to the interpreter where the native compiler fails, with one warning that asks for a report.

Machine code is never the reason that a program stops. With `INTAGLIO_VERIFY=1`, as in the tests, the
error is raised instead.
"""

from __future__ import annotations

import os

from intaglio.base.log import logger
from intaglio.ir.graph import Node

# Set by tests, or INTAGLIO_VERIFY=1: errors of the compiler are raised.
VERIFY = os.environ.get("INTAGLIO_VERIFY") == "1"

_REPORT = (
    "This is an error of Intaglio, not of your program: please report it, with the function. "
    "INTAGLIO_VERIFY=1 raises it instead."
)


class Failed(Exception):
    """The compiler has failed at a node, or one in its graphs; `__cause__` is the error."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.name)
        self.node = node


# The failures that a warning has reported.
_warned: set[tuple[str, str]] = set()


def failed(function: str, error: Exception, instead: str = "is interpreted") -> None:
    """Warns once that the compiler has failed, at which op, and what runs `instead` of machine code.

    Raises the error itself under `INTAGLIO_VERIFY=1`.
    """
    where, cause = "", error
    while isinstance(cause, Failed) and isinstance(cause.__cause__, Exception):
        where = f" at {cause.node.op.name} ({cause.node.name})"
        cause = cause.__cause__
    if VERIFY:
        raise cause
    if (function, where) not in _warned:
        _warned.add((function, where))
        logger().warning(
            "%s %s, for the native compiler failed%s with %s: %s. %s",
            function,
            instead,
            where,
            type(cause).__name__,
            cause,
            _REPORT,
        )
