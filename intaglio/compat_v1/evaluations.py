"""Loops of evaluation in a session: variables come from a checkpoint, and ops run until a hook asks to stop.

TensorFlow has them among its private modules, and libraries under their own names: tf_slim and
tensorflow_gan as `evaluation.evaluate_once`, where https://github.com/google-research/tf-slim describes them.
"""

from __future__ import annotations

import time
from typing import Any

from intaglio.base.dtypes import int64
from intaglio.compat_v1 import logging
from intaglio.compat_v1.basic_hooks import FinalOpsHook
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.initializers import Zeros
from intaglio.compat_v1.monitored_sessions import ChiefSessionCreator, MonitoredSession
from intaglio.compat_v1.session_run_hooks import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from intaglio.compat_v1.variable_scopes import GraphKeys, get_variable
from intaglio.trace import scopes


def get_or_create_eval_step() -> Any:
    """The graph's counter of evaluations, 0 at first. Raises ValueError if there are several."""
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        "eval_step",
        shape=[],
        dtype=int64,
        initializer=Zeros(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Asks the loop to end after `num_evals` evaluations; none of them if that is None.

    With `log_progress` each evaluation is logged, or about ten of them in all if there are twenty or more.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._count = num_evals
        self._completed: Any = None
        step = 1 if num_evals is None or num_evals < 20 else num_evals // 10
        self._logged_each = step if log_progress else None

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetches the counter."""
        return SessionRunArgs({"evals_completed": self._completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Asks the loop to end."""
        completed = int(run_values.results["evals_completed"])
        if self._logged_each is not None and (
            completed % self._logged_each == 0 or completed == self._count
        ):
            total = "inf" if self._count is None else str(self._count)
            logging.info("Evaluation [%d/%s]", completed, total)
        if self._count is not None and completed >= self._count:
            run_context.request_stop()


def _counted(eval_ops: Any, counting: Any) -> Any:
    """What is fetched in each evaluation, with the operation that counts it."""
    if isinstance(eval_ops, dict):
        return {**eval_ops, "update_eval_step": counting}
    if isinstance(eval_ops, (tuple, list)):
        return [*eval_ops, counting]
    return [eval_ops, counting]


def evaluate_once(
    checkpoint_path: Any,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    config: Any = None,
    hooks: Any = None,
) -> Any:
    """The values of `final_ops` after `eval_ops` have run until a hook asks to stop.

    Args:
      checkpoint_path: the checkpoint whose values the variables get; None for their first values.
      master: accepted and ignored.
      scaffold: a Scaffold; a new one by default.
      eval_ops: what is run repeatedly: a tensor or operation, a list or dict of them, or None.
      feed_dict: what is fed to it.
      final_ops: what is run at the end, a structure of tensors.
      final_ops_feed_dict: what is fed to that.
      config: a ConfigProto.
      hooks: SessionRunHooks; those of `StopAfterNEvalsHook` count the evaluations.
    """
    counter = get_or_create_eval_step()
    repeated: Any = None
    all_hooks = list(hooks or [])
    if eval_ops is not None:
        counting = counter.assign_add(1, use_locking=True, read_value=False)
        repeated = _counted(eval_ops, counting)
        after = repeated.values() if isinstance(repeated, dict) else repeated
        with scopes.control_dependencies(list(after)):
            completed = counter.read_value()
        for hook in all_hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(completed)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    all_hooks.append(final)
    creator = ChiefSessionCreator(
        scaffold, master, config, checkpoint_filename_with_path=checkpoint_path
    )
    logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
    with MonitoredSession(creator, all_hooks) as session:
        while repeated is not None and not session.should_stop():
            session.run(repeated, feed_dict)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    return final.final_ops_values
