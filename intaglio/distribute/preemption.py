"""`PreemptionCheckpointHandler`: saves what a program has trained when it is told to stop, and goes on from there.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/experimental/PreemptionCheckpointHandler.
The processes of a cluster stop after the same step: each tells the others, before every step, whether it
was told to.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.distribute.multi_worker import joined
from intaglio.saved_model.checkpoint import Checkpoint, CheckpointManager
from intaglio.state.variable import Variable

# As a process that SIGTERM has ended exits: one that is to be started again.
RESTARTABLE_EXIT_CODE = 143
# Seconds between two calls of a function that asks whether the program is to stop.
POLL_SECONDS = 1.0


class TerminationConfig:
    """How a program is told to stop, and what it does then.

    `termination_watcher_fn()` is true once it is to stop; without one the signal SIGTERM says so.
    `exit_fn()` ends the process, which trains for `grace_period` seconds more. `save_fn()` saves
    instead of the checkpoint manager.
    """

    def __init__(
        self,
        termination_watcher_fn: Callable[[], bool] | None = None,
        exit_fn: Callable[[], Any] | None = None,
        grace_period: int | None = None,
        save_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.termination_watcher_fn = termination_watcher_fn
        self.exit_fn = exit_fn or _exit
        self.grace_period = grace_period or 0
        self.save_fn = save_fn


def _exit() -> None:
    sys.exit(RESTARTABLE_EXIT_CODE)


class _Notice:
    """Whether the program has been told to stop, by a function that a thread polls, or by a signal."""

    def __init__(self, watch: Callable[[], bool] | None) -> None:
        self._arrived = threading.Event()
        if watch is None:
            self._before: Any = None
            with contextlib.suppress(ValueError):  # in another thread than the main one
                self._before = signal.signal(signal.SIGTERM, self._signalled)
        else:
            thread = threading.Thread(target=self._poll, args=(watch,), daemon=True)
            thread.start()

    @property
    def has_arrived(self) -> bool:
        """True from the notice on."""
        return self._arrived.is_set()

    def _signalled(self, number: int, frame: Any) -> None:
        self._arrived.set()
        if callable(self._before):
            self._before(number, frame)

    def _poll(self, watch: Callable[[], bool]) -> None:
        while not self._arrived.is_set():
            if watch():
                self._arrived.set()
            time.sleep(POLL_SECONDS)


class PreemptionCheckpointHandler:
    """Runs training steps; when the program is told to stop, it saves a checkpoint and exits.

    `checkpoint_or_checkpoint_manager` is restored from its latest checkpoint at once. Each call of `run`
    looks whether to stop: the step after the notice is still taken, then the state is saved, and the
    process exits. With a grace period it is saved at once, and again at the end of the period. Raises
    InvalidArgumentError for a checkpoint without `checkpoint_dir`.
    """

    def __init__(
        self,
        cluster_resolver: Any,
        checkpoint_or_checkpoint_manager: Any,
        checkpoint_dir: str | None = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        self._config = termination_config or TerminationConfig()
        manager = checkpoint_or_checkpoint_manager
        if isinstance(manager, Checkpoint):
            if checkpoint_dir is None:
                raise errors.invalid_argument(
                    "When a tf.train.Checkpoint is passed as checkpoint_or_checkpoint_manager, "
                    "checkpoint_dir must be given too."
                )
            manager = CheckpointManager(manager, checkpoint_dir, max_to_keep=1)
        self._manager: Any = manager
        self._calls = Variable(np.zeros((), np.int64), trainable=False, name="run_calls")
        manager.checkpoint.preemption_run_calls = self._calls
        processes = None if cluster_resolver is None else joined(cluster_resolver, 0.0)
        self._processes = processes
        self._is_chief = processes is None or processes.index == 0
        if manager.latest_checkpoint:
            manager.checkpoint.restore(manager.latest_checkpoint)
        self._notice = _Notice(self._config.termination_watcher_fn)
        # The number of calls after which the state is saved, and the end of the grace period.
        self._last_call: int | None = None
        self._end: float | None = None

    @property
    def total_run_calls(self) -> int:
        """How often `run` has been called, with the calls before the last restart."""
        return int(self._calls.numpy())

    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A training step; before it the process saves and exits if it was told to stop."""
        self._check()
        result = distributed_train_function(*args, **kwargs)
        self._calls.assign_add(1)
        return result

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Saves and exits if the process was told to stop; between steps that `run` does not take."""
        self._check(*args, **kwargs)
        self._calls.assign_add(1)

    @contextmanager
    def watch_preemption_scope(self) -> Generator[None]:
        """The block's steps are followed by `save_checkpoint_if_preempted`."""
        yield

    def _check(self, *args: Any, **kwargs: Any) -> None:
        now = self.total_run_calls
        if self._last_call is None:
            if self._is_preempted():
                self._last_call = now + 1
            return
        if self._config.grace_period and self._end is None:
            self._save(*args, **kwargs)
            self._end = time.monotonic() + self._config.grace_period
            return
        if self._end is not None and not self._agreed(time.monotonic() >= self._end):
            return
        self._save(*args, **kwargs)
        self._config.exit_fn()

    def _is_preempted(self) -> bool:
        return self._agreed(self._notice.has_arrived)

    def _agreed(self, own: bool) -> bool:
        """Whether it holds in any process of the cluster."""
        if self._processes is None:
            return own
        (total,) = self._processes.all_reduced([np.array(int(own), np.int32)])
        return bool(total)

    def _save(self, *args: Any, **kwargs: Any) -> None:
        if self._config.save_fn is not None:
            self._config.save_fn(*args, **kwargs)
        elif self._is_chief:
            self._manager.save(*args, **kwargs)
        if self._processes is not None:
            self._processes.wait("the checkpoint of a preempted program", 600.0)


class PreemptionWatcher:
    """Waits for the notice that the program is to stop: SIGTERM."""

    def __init__(self) -> None:
        self._notice = _Notice(None)

    @property
    def preemption_message(self) -> str | None:
        """What the notice was; None before it."""
        return "SIGTERM" if self._notice.has_arrived else None

    def block_until_worker_exit(self) -> None:
        """Waits for the notice."""
        while not self._notice.has_arrived:
            time.sleep(POLL_SECONDS)


__all__ = ["PreemptionCheckpointHandler", "PreemptionWatcher", "TerminationConfig"]
