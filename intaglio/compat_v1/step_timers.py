"""When hooks act: every so many steps, or seconds.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/SecondOrStepTimer.
"""

from __future__ import annotations

import time


class SecondOrStepTimer:
    """Triggers every so many seconds, or every so many steps.

    Raises ValueError for both, and for neither.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._secs, self._steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets when it was triggered."""
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether a step triggers: the first one does, the last one that did does not again."""
        if self._last_step is None or self._last_time is None:
            return True
        if step == self._last_step:
            return False
        if self._secs is not None:
            return time.time() >= self._last_time + self._secs
        return self._steps is not None and step >= self._last_step + self._steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that a step has triggered; the seconds and steps since the one before, None for the first."""
        now = time.time()
        since: tuple[float | None, int | None] = None, None
        if self._last_step is not None and self._last_time is not None:
            since = now - self._last_time, step - self._last_step
        self._last_step, self._last_time = step, now
        return since

    def last_triggered_step(self) -> int | None:
        """The step that triggered last, or None."""
        return self._last_step
