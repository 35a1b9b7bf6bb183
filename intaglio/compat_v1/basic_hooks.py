"""The hooks that training has: logs, checkpoints, summaries, and when to stop.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/CheckpointSaverHook and its neighbours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import files
from intaglio.compat_v1 import logging
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.file_writers import FileWriterCache
from intaglio.compat_v1.global_steps import get_global_step
from intaglio.compat_v1.meta_graphs import export_meta_graph
from intaglio.compat_v1.session_run_hooks import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from intaglio.compat_v1.step_timers import SecondOrStepTimer
from intaglio.compat_v1.variable_scopes import GraphKeys, get_collection
from intaglio.graphdef.event_messages import SessionLog, Summary


def _element(fetch: Any) -> Any:
    """What a fetch names in the current graph."""
    convert = getattr(fetch, "_as_graph_element", None)
    found = fetch if convert is None else convert()
    graph = get_default_graph()
    return graph.as_graph_element(found) if isinstance(found, str) else found


def _steps(who: str) -> Any:
    found = get_global_step()
    if found is None:
        raise RuntimeError(f"Global step should be created to use {who}.")
    return found


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many calls or seconds, and at the end with `at_end`.

    Args:
      tensors: tensors or their names, in a list or by tags.
      every_n_iter, every_n_secs: when; at most one of them.
      at_end: whether they are computed at the end.
      formatter: the text of a dict of values by tags.

    Raises ValueError unless exactly one of the times is given, or `at_end`.
    """

    def __init__(
        self,
        tensors: Any,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        never = every_n_iter is None and every_n_secs is None
        if (never and not at_end) or (every_n_iter is not None and every_n_secs is not None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, dict):
            self._tags = list(tensors)
            self._tensors = dict(tensors)
        else:
            self._tags = list(tensors)
            self._tensors = {tag: tag for tag in self._tags}
        self._formatter, self._at_end = formatter, at_end
        self._timer = (
            None if never else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        )
        self._wanted, self._calls, self._fetched = list[Any](), 0, False

    def begin(self) -> None:
        """Finds the tensors."""
        if self._timer is not None:
            self._timer.reset()
        self._calls = 0
        self._wanted = [_element(self._tensors[tag]) for tag in self._tags]

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetches the tensors when it is time."""
        self._fetched = self._timer is not None and self._timer.should_trigger_for_step(self._calls)
        return SessionRunArgs(self._wanted) if self._fetched else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs what was fetched."""
        if self._fetched:
            self._log(run_values.results)
        self._calls += 1

    def end(self, session: Any) -> None:
        """Logs the tensors with `at_end`."""
        if self._at_end:
            self._log(session.run(self._wanted))

    def _log(self, values: list[Any]) -> None:
        seconds = None
        if self._timer is not None:
            seconds, _ = self._timer.update_last_triggered_step(self._calls)
        named = dict(zip(self._tags, values, strict=True))
        with np.printoptions(suppress=True):
            if self._formatter is not None:
                logging.info(self._formatter(named))
                return
            text = ", ".join([f"{tag} = {value!s}" for tag, value in named.items()])
        if seconds is None:
            logging.info("%s", text)
        else:
            logging.info("%s (%.3f sec)", text, seconds)


class StopAtStepHook(SessionRunHook):
    """Asks the loop to end after `num_steps` steps, or at step `last_step`. Raises ValueError unless one is given."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._count, self._last, self._step = num_steps, last_step, None

    def begin(self) -> None:
        """Finds the counter. Raises RuntimeError if there is none."""
        self._step: Any = _steps("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Counts from here."""
        if self._last is None and self._count is not None:
            self._last = int(session.run(self._step)) + self._count

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetches the counter."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Asks the loop to end. The value that was fetched may be that before the step."""
        last = self._last or 0
        if run_values.results + 1 >= last and run_context.session.run(self._step) >= last:
            run_context.request_stop()


class CheckpointSaverListener:
    """What `CheckpointSaverHook` calls around each checkpoint. This one does nothing."""

    def begin(self) -> None:
        """Called once, before there is a session."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Called after a checkpoint was written; True asks the loop to end."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Called at the end."""


class CheckpointSaverHook(SessionRunHook):
    """Writes checkpoints every so many steps or seconds, at the beginning and at the end.

    Raises ValueError for a saver and a scaffold, and unless one of the times is given.
    """

    def __init__(
        self,
        checkpoint_dir: Any,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Any = None,
        save_graph_def: bool = True,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        logging.info("Create CheckpointSaverHook.")
        self._saver, self._scaffold = saver, scaffold
        self._folder = os.fspath(checkpoint_dir)
        self._path = files.join(self._folder, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners: list[CheckpointSaverListener] = list(listeners or [])
        self._with_graph = save_graph_def
        self._step: Any = None
        self._writer: Any = None
        self._steps_per_run = 1

    def begin(self) -> None:
        """Finds the counter. Raises RuntimeError if there is none."""
        self._writer = FileWriterCache.get(self._folder)
        self._step = _steps("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Writes the graph, and a checkpoint."""
        step = int(session.run(self._step))
        graph = get_default_graph()
        if self._with_graph:
            files.make_folders(self._folder)
            text = str(graph.as_graph_def(add_shapes=True))
            with files.opened(files.join(self._folder, "graph.pbtxt"), "wb") as file:
                file.write(text.encode())
        saver = self._saving()
        meta = export_meta_graph(saver_def=saver.saver_def if saver else None, graph=graph)
        self._writer.add_graph(graph)
        self._writer.add_meta_graph(meta)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetches the counter."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes a checkpoint when it is time. The value that was fetched may be that before the step."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + self._steps_per_run):
            return
        step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Writes a checkpoint of the last step."""
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Writes a checkpoint; whether a listener asks the loop to end."""
        logging.info("Calling checkpoint listeners before saving checkpoint %d...", step)
        for listener in self._listeners:
            listener.before_save(session, step)
        logging.info("Saving checkpoints for %d into %s.", step, self._path)
        saver = self._saving()
        saver.save(session, self._path, global_step=step, write_meta_graph=self._with_graph)
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._path)
        self._writer.add_session_log(log, step)
        logging.info("Calling checkpoint listeners after saving checkpoint %d...", step)
        asked = [listener.after_save(session, step) for listener in self._listeners]
        if any(asked):
            logging.info("A CheckpointSaverListener requested that training be stopped.")
        return any(asked)

    def _saving(self) -> Any:
        """The saver. Raises RuntimeError if there is none, or more than one."""
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        found = get_collection(GraphKeys.SAVERS)
        if len(found) != 1:
            raise RuntimeError(
                f"Expected one item in the collection {GraphKeys.SAVERS}, found {len(found)}. Please pass a saver or scaffold."
            )
        self._saver = found[0]
        return self._saver


class StepCounterHook(SessionRunHook):
    """Logs, and writes as a summary, how many steps are done in a second."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_steps)
        self._writer, self._folder = summary_writer, output_dir
        self._step: Any = None
        self._tag = "global_step/sec"
        self._last_step: int | None = None

    def begin(self) -> None:
        """Finds the counter. Raises RuntimeError if there is none."""
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._step = _steps("StepCounterHook")
        self._tag = f"{self._step.op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetches the counter."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs the steps of a second when it is time. The value that was fetched may be that before the step."""
        before = int(run_values.results)
        if self._timer.should_trigger_for_step(before + 1):
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None:
                    self._log_and_record(steps, seconds, step)
        if before == self._last_step:
            logging.log_first_n(
                logging.WARN,
                "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
                "stable): %s vs previous value: %s. You could increase the global step by passing tf.train.get_global_step() "
                "to Optimizer.apply_gradients or Optimizer.minimize.",
                5,
                before,
                self._last_step,
            )
        self._last_step = before

    def _log_and_record(self, elapsed_steps: Any, elapsed_time: float, global_step: int) -> None:
        rate = elapsed_steps / elapsed_time
        if self._writer is not None:
            value = Summary.Value(tag=self._tag, simple_value=rate)
            self._writer.add_summary(Summary(value=[value]), global_step)
        logging.info("%s: %g", self._tag, rate)


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Watches the loss: a NaN is a NanLossDuringTrainingError, or else ends the loop."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetches the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Raises NanLossDuringTrainingError for a NaN, or asks the loop to end."""
        if not np.isnan(run_values.results):
            return
        if self._fails:
            logging.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        logging.warning("Model diverged with loss = NaN.")
        run_context.request_stop()


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds, 100 steps by default.

    Raises ValueError unless one of `scaffold` and `summary_op` is given, and one of the times.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._op, self._scaffold = summary_op, scaffold
        self._writer, self._folder = summary_writer, output_dir
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._following: int | None = None
        self._step: Any = None
        self._fetched = False

    def begin(self) -> None:
        """Finds the counter. Raises RuntimeError if there is none."""
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._following = None
        self._step = _steps("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetches the summaries when it is time."""
        self._fetched = self._following is None or self._timer.should_trigger_for_step(
            self._following
        )
        wanted = {"global_step": self._step}
        summary = self._summary() if self._fetched else None
        if summary is not None:
            wanted["summary"] = summary
        return SessionRunArgs(wanted)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes what was fetched. The value of the counter may be that before the step."""
        if self._writer is None:
            return
        step = int(run_values.results["global_step"]) + 1
        if self._following is None or self._fetched:
            step = int(run_context.session.run(self._step))
        if self._following is None:
            self._writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._fetched:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._writer.add_summary(summary, step)
        self._following = step + 1

    def end(self, session: Any) -> None:
        """Writes out what waits."""
        if self._writer is not None:
            self._writer.flush()

    def _summary(self) -> list[Any] | None:
        found = self._op
        if found is None and self._scaffold.summary_op is not None:
            found = self._scaffold.summary_op
        if found is None:
            return None
        return list(found) if isinstance(found, (list, tuple)) else [found]


class GlobalStepWaiterHook(SessionRunHook):
    """Waits until the counter has reached a step, which other workers count."""

    def __init__(self, wait_until_step: int) -> None:
        self._until, self._done = wait_until_step, wait_until_step <= 0
        self._step: Any = None

    def begin(self) -> None:
        """Finds the counter. Raises RuntimeError if there is none."""
        self._step = _steps("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Waits."""
        while not self._done:
            step = int(run_context.session.run(self._step))
            self._done = step >= self._until
            if not self._done:
                logging.info("Waiting for global step %d before starting training.", self._until)
                time.sleep(0.5)


class FinalOpsHook(SessionRunHook):
    """Computes tensors at the end; `final_ops_values` has their values."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._ops, self._feeds = final_ops, final_ops_feed_dict
        self._values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values, None before the end."""
        return self._values

    def end(self, session: Any) -> None:
        """Computes the tensors."""
        if self._ops is not None:
            self._values = session.run(self._ops, feed_dict=self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds what a function returns."""

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Calls the function."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
