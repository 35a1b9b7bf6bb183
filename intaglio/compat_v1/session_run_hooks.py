"""What loops of sessions call before and after each `run`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/SessionRunHook.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """What a hook adds to a call of `run`."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a call of `run` gave: the results of a hook's fetches first."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """A call of `run`, as hooks see it."""

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The arguments of the call."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has asked the loop to end."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Asks the loop to end after this call."""
        self._stop_requested = True


class SessionRunHook:
    """A hook that does nothing: subclasses say what happens when."""

    def begin(self) -> None:
        """Called once, before there is a session: ops can still be added."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called for each new session; the graph is final."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each `run`; returns what to fetch and feed besides."""

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each `run` that did not fail."""

    def end(self, session: Any) -> None:
        """Called at the end of the loop."""
