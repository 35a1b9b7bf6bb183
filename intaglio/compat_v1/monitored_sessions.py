"""Sessions that initialize, restore and end themselves, and call hooks: `MonitoredSession`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/MonitoredSession.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import errors
from intaglio.compat_v1 import basic_hooks, logging, summaries
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.queue_runners import start_queue_runners
from intaglio.compat_v1.savers import Saver
from intaglio.compat_v1.session_run_hooks import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from intaglio.compat_v1.sessions import Session
from intaglio.compat_v1.variable_scopes import (
    GraphKeys,
    get_collection,
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)
from intaglio.opdef import raw
from intaglio.runtime.coordinator import Coordinator
from intaglio.saved_model.checkpoint import latest_checkpoint
from intaglio.trace import scopes

# What a parameter of MonitoredTrainingSession is if it is not given.
USE_DEFAULT = object()


def _group(operations: list[Any], name: str) -> Any:
    with scopes.control_dependencies(operations):
        return raw.NoOp(name=name)


class Scaffold:
    """What begins a session of a graph: its initializers, its saver and its summaries.

    What is not given is created by `finalize`, which also ends the recording of the graph.
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Any = None,
        local_init_feed_dict: Any = None,
    ) -> None:
        template = copy_from_scaffold
        if template is not None and not isinstance(template, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        self._init_op = init_op or getattr(template, "_init_op", None)
        self._init_feed_dict = init_feed_dict or getattr(template, "_init_feed_dict", None)
        self._user_init_fn = init_fn or getattr(template, "_user_init_fn", None)
        self._ready_op = ready_op if ready_op is not None else getattr(template, "_ready_op", None)
        self._ready_for_local_init_op = (
            ready_for_local_init_op
            if ready_for_local_init_op is not None
            else getattr(template, "_ready_for_local_init_op", None)
        )
        self._local_init_op = local_init_op or getattr(template, "_local_init_op", None)
        self._local_init_feed_dict = local_init_feed_dict or getattr(
            template, "_local_init_feed_dict", None
        )
        self._summary_op = (
            summary_op if summary_op is not None else getattr(template, "_summary_op", None)
        )
        self._saver = saver or getattr(template, "_saver", None)

    def finalize(self) -> Scaffold:
        """Creates what was not given, and ends the recording of the graph."""
        if self._init_op is None:
            self._init_op = self._in_collection("init_op", lambda: global_variables_initializer())
        if self._ready_op is None:
            self._ready_op = self._in_collection("ready_op", report_uninitialized_variables)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = self._in_collection(
                "ready_for_local_init_op",
                lambda: report_uninitialized_variables(
                    global_variables(), name="report_uninitialized_variables"
                ),
            )
        if self._local_init_op is None:
            self._local_init_op = self._in_collection(
                "local_init_op", Scaffold.default_local_init_op
            )
        if self._summary_op is None:
            self._summary_op = self._in_collection("summary_op", summaries.merge_all)
        if self._saver is None and (global_variables() or get_collection("saveable_objects")):
            self._saver = self._in_collection(GraphKeys.SAVERS, lambda: Saver(sharded=True))
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    @staticmethod
    def _in_collection(collection: str, make: Callable[[], Any]) -> Any:
        """What a collection of the graph has; else a new one, which it has from then on."""
        there = get_collection(collection)
        if len(there) > 1:
            raise RuntimeError(f"More than one item in the collection {collection!r}: {there}")
        if there and there[0] is not None:
            return there[0]
        created = make()
        if created is not None:
            get_default_graph().add_to_collection(collection, created)
        return created

    @staticmethod
    def default_local_init_op() -> Any:
        """The operation that initializes local variables and fills tables."""
        return _group([local_variables_initializer(), tables_initializer()], "init_local")

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """What is called after `init_op`, with the session."""
        function = self._user_init_fn
        return None if function is None else lambda session: function(self, session)

    @property
    def init_op(self) -> Any:
        """The operation that initializes global variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """What is fed to `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """The names of variables without values."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The names of global variables without values."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """The operation that initializes local variables and fills tables."""
        return self._local_init_op

    @property
    def local_init_feed_dict(self) -> Any:
        """What is fed to `local_init_op`."""
        return self._local_init_feed_dict

    @property
    def summary_op(self) -> Any:
        """All summaries of the graph, or None."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """The saver of the graph's variables."""
        return self._saver


class SessionCreator:
    """Creates sessions."""

    def create_session(self) -> Any:
        """A new session, initialized. Raises NotImplementedError in this class."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class ChiefSessionCreator(SessionCreator):
    """Creates a session whose variables come from the newest checkpoint, or from their initializers.

    Args:
      scaffold: a Scaffold; a new one by default.
      master: accepted and ignored.
      config: a ConfigProto.
      checkpoint_dir: the folder of checkpoints.
      checkpoint_filename_with_path: a checkpoint.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._folder, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Any:
        """A new session. Raises RuntimeError if variables are left without values."""
        plan = self._scaffold.finalize()
        session = Session(self._master, get_default_graph(), self._config)
        newest = self._path or (self._folder and latest_checkpoint(self._folder))
        if newest:
            if plan.saver is None:
                raise ValueError("A checkpoint needs a saver of variables.")
            plan.saver.restore(session, newest)
        else:
            if plan.init_op is not None:
                session.run(plan.init_op, plan.init_feed_dict)
            if plan.init_fn is not None:
                plan.init_fn(session)
        _local_start(session, plan)
        return session


class WorkerSessionCreator(ChiefSessionCreator):
    """Creates the session of a worker. In one process that is the chief's.

    Args:
      scaffold: a Scaffold; a new one by default.
      master: accepted and ignored.
      config: a ConfigProto.
      max_wait_secs: accepted and ignored.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 1800,
    ) -> None:
        super().__init__(scaffold, master, config)


def _local_start(session: Any, plan: Scaffold) -> None:
    """Runs what needs the values of global variables. Raises RuntimeError if some have none."""
    first = f"Init op: {getattr(plan.init_op, 'name', None)}, init fn: {plan.init_fn}"
    missing = _names(session, plan.ready_for_local_init_op)
    if missing:
        raise RuntimeError(
            f"Init operations did not make model ready for local_init.  {first}, error: Variables not initialized: {missing}"
        )
    if plan.local_init_op is not None:
        logging.info("Running local_init_op.")
        session.run(plan.local_init_op, plan.local_init_feed_dict)
        logging.info("Done running local_init_op.")
    missing = _names(session, plan.ready_op)
    if missing:
        raise RuntimeError(
            f"Init operations did not make model ready.  {first}, local_init_op: "
            f"{getattr(plan.local_init_op, 'name', None)}, error: Variables not initialized: {missing}"
        )


def _names(session: Any, ready: Any) -> str:
    return "" if ready is None else ", ".join([name.decode() for name in session.run(ready)])


class StepContext:
    """What a function of `run_step_fn` gets: the session, with and without hooks."""

    def __init__(self, session: Any, run_with_hooks: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks = run_with_hooks

    @property
    def session(self) -> Any:
        """The session itself, which calls no hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """`MonitoredSession.run`."""
        return self._run_with_hooks(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the function, and the loop."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _MonitoredSession:
    """A session with hooks; created again when it is aborted, if `recovers`."""

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Any,
        recovers: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks: list[SessionRunHook] = list(hooks or [])
        for hook in self._hooks:
            hook.begin()
        self._creator = session_creator or ChiefSessionCreator()
        self._recovers = recovers
        self._grace = stop_grace_period_secs
        self._stopped = False
        self._session: Any = None
        self._coordinator: Any = None
        self._create()

    def _create(self) -> None:
        while True:
            try:
                self._session = self._creator.create_session()
                self._coordinator = Coordinator(clean_stop_exception_types=())
                if get_collection(GraphKeys.QUEUE_RUNNERS):
                    start_queue_runners(self._session, self._coordinator)
                for hook in self._hooks:
                    hook.after_create_session(self._session, self._coordinator)
                return
            except _LOST as e:
                if not self._recovers:
                    raise
                logging.info("An error was raised while a session was being created: %s", e)

    @property
    def graph(self) -> Any:
        """The graph of the session; None after it was closed."""
        return None if self._session is None else self._session.graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """As `Session.run`; hooks are called before and after. Raises RuntimeError if it is closed."""
        while True:
            if self._session is None:
                raise RuntimeError("Run called even after should_stop requested.")
            try:
                return self._coordinated(fetches, feed_dict, options, run_metadata)
            except _LOST as e:
                if not self._recovers:
                    raise
                logging.info("An error was raised, and the session is created again: %s", e)
                self._end_session()
                self._create()

    def _coordinated(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        """A run; where a thread of the coordinator has failed, its error counts."""
        try:
            return self._with_hooks(fetches, feed_dict, options, run_metadata)
        except _LOST:
            raise
        except Exception:
            self._coordinator.raise_requested_exception()
            raise

    def _with_hooks(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._session)
        wanted, fed = list[Any]([fetches]), dict(feed_dict or {})
        places: list[int | None] = []
        for hook in self._hooks:
            asked = hook.before_run(context)
            places.append(None)
            if asked is None:
                continue
            if asked.fetches is not None:
                places[-1] = len(wanted)
                wanted.append(asked.fetches)
            _add_feeds(fed, asked.feed_dict or {}, feed_dict or {})
        found = self._session.run(wanted, fed, options, run_metadata)
        for hook, place in zip(self._hooks, places, strict=True):
            result = None if place is None else found[place]
            hook.after_run(context, SessionRunValues(result, options, run_metadata))
        self._stopped = self._stopped or context.stop_requested
        return found[0]

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Calls a function with a StepContext. Raises ValueError for one of other parameters.

        A StopIteration of the function, as `request_stop` raises, ends the loop.
        """
        code = getattr(step_fn, "__code__", None)
        names = () if code is None else code.co_varnames[: code.co_argcount]
        if "step_context" not in names:
            raise ValueError(
                "The `step_fn` must either have one `step_context` argument, or two arguments, `self` and "
                f"`step_context`, if it is a method; it has {list(names)}"
            )
        if self._session is None:
            raise RuntimeError("run_step_fn called after close.")
        return step_fn(StepContext(self._session, self.run))

    def should_stop(self) -> bool:
        """Whether the loop has to end: a hook has asked for it, a thread has failed, or the session is closed."""
        return self._session is None or self._stopped or self._coordinator.should_stop()

    def close(self) -> None:
        """Calls the hooks' `end`, and ends the session."""
        self._close(None)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> bool:
        # These say that there are no more data.
        over = kind is not None and issubclass(kind, (errors.OutOfRangeError, StopIteration))
        self._close(None if over else kind)
        return over

    def _close(self, kind: Any) -> None:
        try:
            if kind is None and self._session is not None:
                for hook in self._hooks:
                    hook.end(self._session)
        finally:
            try:
                if self._session is not None:
                    self._end_session()
            finally:
                self._session = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def _end_session(self) -> None:
        self._coordinator.request_stop()
        try:
            self._coordinator.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            self._session.close()


_LOST = (errors.AbortedError, errors.UnavailableError)


def _add_feeds(fed: dict[Any, Any], more: Any, of_caller: Any) -> None:
    """Adds what a hook feeds. Raises RuntimeError for a tensor that is fed already."""
    for who, there in (("a SessionRunHook and user", of_caller), ("two hooks", fed)):
        known = {_key(k) for k in there}
        conflicts = [k for k in more if _key(k) in known]
        if conflicts:
            raise RuntimeError(f"Same tensor is fed by {who}. Conflict(s): {conflicts}")
    fed.update(more)


def _key(element: Any) -> Any:
    """What tells fed elements apart: a tensor, whatever it is named by."""
    target = element.deref() if hasattr(element, "deref") else element
    return getattr(target, "name", target)


class MonitoredSession(_MonitoredSession):
    """A session that initializes itself, calls hooks, and is created again when it is aborted.

    Args:
      session_creator: a SessionCreator; by default that of a chief.
      hooks: SessionRunHooks.
      stop_grace_period_secs: how long threads may take to end.

    >>> with tf.Graph().as_default():
    ...     step = tf.compat.v1.train.get_or_create_global_step()
    ...     following = step.assign_add(1)
    ...     stop = tf.compat.v1.train.StopAtStepHook(last_step=3)
    ...     with tf.compat.v1.train.MonitoredSession(hooks=[stop]) as session:
    ...         while not session.should_stop():
    ...             print(session.run(following))
    1
    2
    3
    """

    StepContext = StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Any = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """As `MonitoredSession`, but an aborted session is not created again."""

    def __init__(
        self,
        hooks: Any = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The session itself."""
        return self._session


def _or(value: Any, default: Any) -> Any:
    return default if value is USE_DEFAULT else value


def MonitoredTrainingSession(  # TensorFlow's name
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: Any = None,
    scaffold: Scaffold | None = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: Any = None,
    save_graph_def: bool = True,
) -> MonitoredSession:
    """A MonitoredSession with the hooks of training: checkpoints every 600 seconds, summaries every 100 steps."""
    if save_summaries_steps is USE_DEFAULT and save_summaries_secs is USE_DEFAULT:
        save_summaries_steps = 100
    if save_checkpoint_secs is USE_DEFAULT and save_checkpoint_steps is USE_DEFAULT:
        save_checkpoint_secs = 600
    summary_steps, summary_secs = _or(save_summaries_steps, None), _or(save_summaries_secs, None)
    steps, secs = _or(save_checkpoint_steps, None), _or(save_checkpoint_secs, None)
    plan = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(plan, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs)
    added: list[Any] = list(chief_only_hooks or [])
    folder = summary_dir or checkpoint_dir
    if folder:
        if log_step_count_steps and log_step_count_steps > 0:
            added.append(
                basic_hooks.StepCounterHook(output_dir=folder, every_n_steps=log_step_count_steps)
            )
        if (summary_steps and summary_steps > 0) or (summary_secs and summary_secs > 0):
            added.append(
                basic_hooks.SummarySaverHook(
                    scaffold=plan,
                    save_steps=summary_steps,
                    save_secs=summary_secs,
                    output_dir=folder,
                )
            )
    if checkpoint_dir and ((secs and secs > 0) or (steps and steps > 0)):
        added.append(
            basic_hooks.CheckpointSaverHook(
                checkpoint_dir,
                save_steps=steps,
                save_secs=secs,
                scaffold=plan,
                save_graph_def=save_graph_def,
            )
        )
    chief = ChiefSessionCreator(plan, master, config, checkpoint_dir)
    return MonitoredSession(chief, [*added, *(hooks or [])], stop_grace_period_secs)
