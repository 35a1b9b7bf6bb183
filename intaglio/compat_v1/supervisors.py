"""Sessions that begin with a checkpoint or with initializers, and the loop around them.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/Supervisor. In one process the chief
is the only worker. `MonitoredTrainingSession` is the newer form.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from intaglio.base import later
from intaglio.compat_v1 import logging, summaries
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.file_writers import FileWriter
from intaglio.compat_v1.global_steps import get_global_step
from intaglio.compat_v1.monitored_sessions import Scaffold
from intaglio.compat_v1.queue_runners import LooperThread, start_queue_runners
from intaglio.compat_v1.savers import Saver
from intaglio.compat_v1.sessions import Session
from intaglio.compat_v1.variable_scopes import (
    global_variables,
    global_variables_initializer,
    report_uninitialized_variables,
)

_DEFAULT: Any = 0  # what TensorFlow has for "create it"
_FIRST_WAIT_S = 0.1


class SessionManager:
    """Prepares sessions: from a checkpoint if there is one, else by an operation or a function.

    Args:
      local_init_op: an operation that runs once global variables have values.
      ready_op: a vector of the names of variables without values; by default there is no check.
      ready_for_local_init_op: the same, asked before `local_init_op`.
      graph: the graph; the default one if None.
      recovery_wait_secs: how long to wait between attempts.
      local_init_run_options: accepted and ignored.
      local_init_feed_dict: what `local_init_op` is fed.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Any = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
        local_init_feed_dict: Any = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._graph = graph or get_default_graph()
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._wait_s = recovery_wait_secs
        self._local_feeds = local_init_feed_dict

    def _restored(
        self,
        saver: Any,
        folder: Any,
        path: Any,
        wait: bool,
        max_wait_secs: float,
        config: Any,
        master: str,
    ) -> tuple[Any, bool]:
        session = Session(master, self._graph, config)
        if folder and path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        if not saver or not (folder or path):
            return session, False
        latest = later.named("intaglio.tf:train.latest_checkpoint")
        waited = 0.0
        while not path and not (path := latest(folder)):
            if not wait or waited >= max_wait_secs:
                return session, False
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._wait_s)
            waited += self._wait_s
        saver.restore(session, path)
        return session, True

    def prepare_session(
        self,
        master: str = "",
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any], Any] | None = None,
    ) -> Any:
        """A session whose variables have values. Raises RuntimeError if some have none."""
        session, restored = self._restored(
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            wait_for_checkpoint,
            max_wait_secs,
            config,
            master,
        )
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                session.run(init_op, init_feed_dict)
            if init_fn:
                init_fn(session)
        missing = self._local_start(session)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: {getattr(init_op, 'name', None)}, "
                f"init fn: {init_fn}, local_init_op: {getattr(self._local_init_op, 'name', None)}, "
                f"error: Variables not initialized: {missing}"
            )
        return session

    def recover_session(
        self,
        master: str = "",
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Any, bool]:
        """A session, and whether all of its variables have values, of the checkpoint."""
        session, restored = self._restored(
            saver,
            checkpoint_dir,
            checkpoint_filename_with_path,
            wait_for_checkpoint,
            max_wait_secs,
            config,
            master,
        )
        missing = self._local_start(session)
        if missing:
            logging.info("Model is not ready: %s", missing)
        return session, restored and not missing

    def wait_for_session(
        self, master: str = "", config: Any = None, max_wait_secs: float = float("inf")
    ) -> Any:
        """A session, once its variables have values. Raises DeadlineExceededError."""
        end = time.monotonic() + (max_wait_secs or float("inf"))
        while True:
            session = Session(master, self._graph, config)
            missing = self._local_start(session)
            if not missing:
                return session
            if time.monotonic() + self._wait_s > end:
                raise later.named("intaglio.tf:errors.DeadlineExceededError")(
                    None, None, f"Session was not ready after waiting {max_wait_secs} secs."
                )
            time.sleep(self._wait_s)

    def _local_start(self, session: Any) -> str:
        """Runs the local operation; the names of variables without values."""
        missing = _names(session, self._ready_for_local_init_op)
        if missing:
            return missing
        if self._local_init_op is not None:
            session.run(self._local_init_op, self._local_feeds)
        return _names(session, self._ready_op)


def _names(session: Any, ready: Any) -> str:
    return "" if ready is None else ", ".join(name.decode() for name in session.run(ready))


class Supervisor:
    """Begins a session, writes summaries and checkpoints in threads, and ends them.

    Args of 0 are created. `logdir` is the folder of checkpoints and event files; without it nothing is
    written.
    """

    USE_DEFAULT = _DEFAULT

    def __init__(
        self,
        graph: Any = None,
        ready_op: Any = _DEFAULT,
        ready_for_local_init_op: Any = _DEFAULT,
        is_chief: bool = True,
        init_op: Any = _DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = _DEFAULT,
        logdir: Any = None,
        summary_op: Any = _DEFAULT,
        saver: Any = _DEFAULT,
        global_step: Any = _DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None,
        summary_writer: Any = _DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        if later.named("intaglio.tf:executing_eagerly")() and graph is None:
            raise RuntimeError("Supervisors are incompatible with eager execution.")
        self._graph = graph or get_default_graph()
        self._is_chief, self._logdir = is_chief, logdir
        self._summaries_s, self._model_s = save_summaries_secs, save_model_secs
        self._stop_grace_s = stop_grace_secs
        self._init_fn, self._init_feeds = init_fn, init_feed_dict
        with self._graph.as_default():
            self._ready_op = _or(ready_op, report_uninitialized_variables)
            self._ready_for_local = _or(
                ready_for_local_init_op, lambda: report_uninitialized_variables(global_variables())
            )
            self._init_op = _or(init_op, global_variables_initializer)
            self._local_init_op = _or(local_init_op, Scaffold.default_local_init_op)
            self._summary_op = _or(summary_op, summaries.merge_all)
            self._saver = _or(saver, lambda: Saver() if global_variables() else None)
            self._global_step = _or(global_step, get_global_step)
        self._save_path = logdir and os.path.join(logdir, checkpoint_basename)
        self._writer = _or(summary_writer, lambda: FileWriter(logdir) if logdir else None)
        self._coord = later.named("intaglio.tf:train.Coordinator")()
        self._manager = session_manager or SessionManager(
            self._local_init_op,
            self._ready_op,
            self._ready_for_local,
            self._graph,
            recovery_wait_secs,
            local_init_run_options,
        )
        self._begun = False

    session_manager = property(lambda self: self._manager, doc="The SessionManager.")
    is_chief = property(lambda self: self._is_chief, doc="Whether it initializes.")
    coord = coordinator = property(lambda self: self._coord, doc="The coordinator of its threads.")
    init_op = property(lambda self: self._init_op, doc="The operation that initializes.")
    init_feed_dict = property(lambda self: self._init_feeds, doc="What that is fed.")
    ready_op = property(lambda self: self._ready_op, doc="The names of variables without values.")
    ready_for_local_init_op = property(lambda self: self._ready_for_local, doc="As `ready_op`.")
    summary_writer = property(lambda self: self._writer, doc="The writer of the event file.")
    summary_op = property(lambda self: self._summary_op, doc="The merged summaries.")
    save_summaries_secs = property(lambda self: self._summaries_s, doc="Seconds between them.")
    saver = property(lambda self: self._saver, doc="The saver.")
    save_model_secs = property(lambda self: self._model_s, doc="Seconds between checkpoints.")
    save_path = property(lambda self: self._save_path, doc="The path of checkpoints.")
    global_step = property(lambda self: self._global_step, doc="The counter of steps, or None.")

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """A session that is ready, and the threads of it."""
        self._coord.clear_stop()
        if self._writer:
            self._writer.reopen()
        if self._is_chief:
            session = self._manager.prepare_session(
                master,
                self._init_op,
                self._saver,
                self._logdir,
                None,
                wait_for_checkpoint,
                max_wait_secs,
                config,
                self._init_feeds,
                self._init_fn,
            )
            if start_standard_services:
                self.start_standard_services(session)
        else:
            session = self._manager.wait_for_session(master, config, max_wait_secs)
        if start_standard_services:
            self.start_queue_runners(session)
        self._begun = True
        return session

    PrepareSession = prepare_or_wait_for_session

    def start_standard_services(self, sess: Any) -> list[Any]:
        """Starts the threads that write summaries and checkpoints; without a folder there are none."""
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services.")
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return []
        found: list[Any] = []
        if self._summaries_s and self._summary_op is not None and self._writer:
            found.append(self.loop(self._summaries_s, self._write_summaries, (sess,)))
        if self._model_s and self._saver:
            found.append(self.loop(self._model_s, self._save, (sess,)))
        return found

    StartStandardServices = start_standard_services

    def _write_summaries(self, session: Any) -> None:
        if self._global_step is None:
            self._writer.add_summary(session.run(self._summary_op))
            return
        text, step = session.run([self._summary_op, self._global_step])
        self._writer.add_summary(text, step)

    def _save(self, session: Any) -> None:
        self._saver.save(session, self._save_path, global_step=self._global_step)

    def start_queue_runners(self, sess: Any, queue_runners: Any = None) -> list[Any]:
        """Starts the threads of queues, those of the graph if none are given."""
        runners = (
            self._graph.get_collection("queue_runners") if queue_runners is None else queue_runners
        )
        if queue_runners is None:
            with self._graph.as_default():
                return start_queue_runners(sess, self._coord) if runners else []
        found: list[Any] = []
        for runner in runners:
            found.extend(runner.create_threads(sess, coord=self._coord, daemon=True, start=True))
        return found

    StartQueueRunners = start_queue_runners

    def loop(
        self, timer_interval_secs: float | None, target: Any, args: Any = None, kwargs: Any = None
    ) -> Any:
        """Starts a thread that calls a function again and again, and once if the interval is None."""
        thread = LooperThread(self._coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    Loop = loop

    def stop(
        self,
        threads: Any = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Ends the threads, and raises what one of them has raised."""
        self._coord.request_stop()
        try:
            self._coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_s,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self._writer:
                self._writer.close()
            self._begun = False

    Stop = stop

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to end."""
        self._coord.request_stop(ex)

    RequestStop = request_stop

    def should_stop(self) -> bool:
        """Whether the threads are asked to end."""
        return self._coord.should_stop()

    ShouldStop = should_stop

    def stop_on_exception(self) -> Any:
        """A block whose error ends the threads."""
        return self._coord.stop_on_exception()

    StopOnException = stop_on_exception

    def wait_for_stop(self) -> None:
        """Returns when the threads are asked to end."""
        self._coord.wait_for_stop()

    WaitForStop = wait_for_stop

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Writes a summary. Raises RuntimeError without a writer."""
        if not self._writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = later.named("intaglio.compat_v1.global_steps:global_step")(
                sess, self._global_step
            )
        self._writer.add_summary(summary, global_step)

    SummaryComputed = summary_computed

    @contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Generator[Any]:
        """A block with a session that is ready; its end ends the threads and closes the session."""
        session: Any = None
        try:
            session = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()


def _or(value: Any, create: Callable[[], Any]) -> Any:
    return create() if isinstance(value, int) and value == _DEFAULT else value


def basic_train_loop(
    supervisor: Any,
    train_step_fn: Callable[..., Any],
    args: Any = None,
    kwargs: Any = None,
    master: str = "",
) -> None:
    """Calls a function with the session of a supervisor until that is asked to stop.

    After `UnavailableError` or `AbortedError` it begins again, with the last checkpoint.
    """
    errors = later.named("intaglio.tf:errors")
    wait_s = _FIRST_WAIT_S
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except (errors.UnavailableError, errors.AbortedError) as error:
            logging.info("%s: begins again", error)
            time.sleep(wait_s)
            wait_s *= 2


class VocabInfo(NamedTuple):
    """How the rows of an embedding of one vocabulary come from those of another."""

    new_vocab: Any
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: Any
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


def warm_start(
    ckpt_to_initialize_from: Any,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Any = None,
    var_name_to_prev_var_name: Any = None,
) -> None:
    """From now on variables begin with values of a checkpoint: those whose names match a regular expression.

    `vars_to_warm_start` may be a list, of expressions, names or variables; None is no variable. Raises
    NotImplementedError for changed vocabularies, and ValueError for renamed variables that are not found.
    """
    if var_name_to_vocab_info:
        raise NotImplementedError("tf.compat.v1.train.warm_start: of changed vocabularies")
    names = dict(var_name_to_prev_var_name or {})
    re = later.named("re:compile")
    begin = later.named("intaglio.compat_v1.session_checkpoints:init_from_checkpoint")
    if vars_to_warm_start is None:
        found: list[Any] = []
    elif isinstance(vars_to_warm_start, str):
        graph = get_default_graph()
        found = [
            v
            for v in graph.get_collection("trainable_variables")
            if re(vars_to_warm_start).match(v.op.name)
        ]
    else:
        found = []
        own = get_default_graph().get_collection("variables")
        for one in vars_to_warm_start:
            found += [v for v in own if re(one).match(v.op.name)] if isinstance(one, str) else [one]
    unused = names.keys() - {v.op.name for v in found}
    if unused:
        raise ValueError(
            "You provided the following variables in var_name_to_prev_var_name that were not used: "
            f"{sorted(unused)}. Perhaps you misspelled them?"
        )
    begin(ckpt_to_initialize_from, {names.get(v.op.name, v.op.name): v for v in found})
