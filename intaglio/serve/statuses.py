"""Errors of requests, and the HTTP status of each.

TensorFlow Serving maps the canonical codes of `tf.errors` to HTTP; what goes wrong before a request
is understood (its size, its token) has statuses of HTTP alone.
"""

from __future__ import annotations

import json

from intaglio.base import errors

# https://www.iana.org/assignments/http-status-codes, by the codes of `tf.errors`. A client that
# closed its connection has no registered status; 499 is in common use.
HTTP_STATUS = {
    errors.CANCELLED: 499,
    errors.UNKNOWN: 500,
    errors.INVALID_ARGUMENT: 400,
    errors.DEADLINE_EXCEEDED: 504,
    errors.NOT_FOUND: 404,
    errors.ALREADY_EXISTS: 409,
    errors.PERMISSION_DENIED: 403,
    errors.RESOURCE_EXHAUSTED: 429,
    errors.FAILED_PRECONDITION: 400,
    errors.ABORTED: 409,
    errors.OUT_OF_RANGE: 400,
    errors.UNIMPLEMENTED: 501,
    errors.INTERNAL: 500,
    errors.UNAVAILABLE: 503,
    errors.DATA_LOSS: 500,
    errors.UNAUTHENTICATED: 401,
}
INTERNAL_MESSAGE = "the call of the model failed; the server's log has the traceback."


class HTTPError(Exception):
    """A request that is refused with a status of HTTP for which there is no canonical code."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


def invalid(message: str) -> errors.OpError:
    """The error of a request that is malformed."""
    return errors.InvalidArgumentError(None, None, message)


def of(error: Exception) -> tuple[int, str]:
    """The HTTP status of what a request raised, and the message for its sender.

    What a signature raises of its arguments, ValueError and TypeError, is the sender's. Other
    exceptions are the server's; their text may speak of its files, and is left out.
    """
    if isinstance(error, HTTPError):
        return error.status, str(error)
    if isinstance(error, errors.OpError):
        return HTTP_STATUS.get(error.error_code, 500), error.message
    if isinstance(error, (ValueError, TypeError)):
        return 400, str(error)
    return 500, INTERNAL_MESSAGE


def body(message: str) -> bytes:
    """The body of an error's response."""
    return json.dumps({"error": message}).encode()
