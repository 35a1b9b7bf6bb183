"""PreemptionCheckpointHandler: the step after the notice is taken, then saved; answers are TensorFlow 2.21's."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from intaglio import tf
from intaglio.distribute import preemption

EXPERIMENTAL = tf.distribute.experimental


class _Program:
    """A variable that steps add 1 to, under a handler."""

    def __init__(self, folder: Path, **config: Any) -> None:
        self.preempted = False
        self.value = tf.Variable(0.0)
        self.step = tf.function(self._step)
        config.setdefault("termination_watcher_fn", lambda: self.preempted)
        self.handler = EXPERIMENTAL.PreemptionCheckpointHandler(
            tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({})),
            tf.train.Checkpoint(value=self.value),
            str(folder),
            EXPERIMENTAL.TerminationConfig(**config),
        )

    def _step(self, by: Any) -> Any:
        self.value.assign_add(by)
        return self.value + 0.0

    def run(self) -> float:
        return float(self.handler.run(self.step, 1.0))

    def preempt(self) -> None:
        self.preempted = True
        assert self.handler._notice._arrived.wait(5)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preemption, "POLL_SECONDS", 0.01)


def test_the_step_after_the_notice_is_taken_then_saved(tmp_path: Path) -> None:
    program = _Program(tmp_path, exit_fn=lambda: exit(7))
    assert [program.run() for _ in range(3)] == [1.0, 2.0, 3.0]
    assert program.handler.total_run_calls == 3
    assert not [*tmp_path.iterdir()]
    program.preempt()
    assert program.run() == 4.0
    with pytest.raises(SystemExit) as caught:
        program.run()
    assert caught.value.code == 7
    assert (tmp_path / "ckpt-1.index").exists()
    again = _Program(tmp_path)
    assert float(again.value) == 4.0 and again.handler.total_run_calls == 4
    assert again.run() == 5.0


def test_a_grace_period_saves_at_once_and_again_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(preemption.time, "monotonic", lambda: now[0])
    program = _Program(tmp_path, grace_period=5)
    program.run()
    program.preempt()
    assert [program.run() for _ in range(3)] == [2.0, 3.0, 4.0]
    assert tf.train.load_variable(str(tmp_path), "value/.ATTRIBUTES/VARIABLE_VALUE") == 2.0
    now[0] = 6.0
    with pytest.raises(SystemExit) as caught:
        program.run()
    assert caught.value.code == preemption.RESTARTABLE_EXIT_CODE
    assert tf.train.load_variable(str(tmp_path), "value/.ATTRIBUTES/VARIABLE_VALUE") == 4.0


def test_a_signal_is_the_notice_without_a_function(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    saved: list[int] = []
    try:
        program = _Program(tmp_path, termination_watcher_fn=None, save_fn=lambda: saved.append(1))
        watcher = EXPERIMENTAL.PreemptionWatcher()
        assert watcher.preemption_message is None
        assert program.run() == 1.0
        os.kill(os.getpid(), signal.SIGTERM)
        watcher.block_until_worker_exit()
        assert program.run() == 2.0
        with pytest.raises(SystemExit):
            program.run()
        assert saved == [1] and not [*tmp_path.iterdir()]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_checkpoint_needs_a_folder() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="checkpoint_dir"):
        EXPERIMENTAL.PreemptionCheckpointHandler(None, tf.train.Checkpoint())
