"""Iterators and steps of strategies as programs of TensorFlow 1 have them, in sessions and eagerly.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/distribute/Strategy and
https://www.tensorflow.org/api_docs/python/tf/compat/v1/distribute/StrategyExtended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import nest
from intaglio.data.session_iterators import HasElementParts, make_initializable_iterator
from intaglio.distribute.contexts import ReduceOp
from intaglio.distribute.datasets import DistributedDataset
from intaglio.distribute.values import regrouped
from intaglio.trace import choices, ordering, scopes


class InputIterator(HasElementParts):
    """The elements of a distributed dataset, for all replicas at a time.

    In a graph the operation `initializer` begins with the first element; eagerly the iterator begins by
    itself, and `initialize()` begins again.
    """

    def __init__(self, dataset: DistributedDataset) -> None:
        self._dataset = dataset
        self._iterator: Any = (
            iter(dataset)
            if scopes.executing_eagerly()
            else make_initializable_iterator(dataset._dataset)
        )

    @property
    def element_spec(self) -> Any:
        """The structure of the elements' types."""
        return self._dataset.element_spec

    def get_next(self, name: str | None = None) -> Any:
        """The next element, `PerReplica` where there are several replicas.

        Raises OutOfRangeError after the last one.
        """
        return self._iterator.get_next()

    def initialize(self) -> Any:
        """The operation that begins with the first element; eagerly None: it begins at once."""
        if scopes.executing_eagerly():
            self._iterator = iter(self._dataset)
            return None
        return self._iterator.initializer

    @property
    def initializer(self) -> Any:
        """As `initialize()`."""
        return self.initialize()


class MultiStepContext:
    """What the steps of `experimental_run_steps_on_iterator` give beside their own results."""

    def __init__(self) -> None:
        self.run_op: Any = None
        self._last_step_outputs: dict[str, Any] = {}
        self._reductions: dict[str, ReduceOp | None] = {}
        self._non_tensor_outputs: dict[str, Any] = {}

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        """What the last step gave by `set_last_step_output`, by name."""
        return self._last_step_outputs

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        """What `set_non_tensor_output` was given, by name."""
        return self._non_tensor_outputs

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """Gives an output: the sum or mean over replicas by `reduce_op`, or without it each replica's."""
        self._reductions[name] = None if reduce_op is None else ReduceOp.of(reduce_op)
        self._last_step_outputs[name] = output

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Gives a value that is no tensor, as the last recorded step gives it."""
        self._non_tensor_outputs[name] = output


def run_steps(
    strategy: Any,
    fn: Callable[[MultiStepContext, Any], Any],
    iterator: Any,
    iterations: Any = 1,
    initial_loop_values: Any = None,
) -> MultiStepContext:
    """`fn(context, element)` for so many elements, recorded as a loop in graphs.

    `initial_loop_values` has the structure of the context's `last_step_outputs`. In a graph the
    context's `run_op` runs the steps.
    """
    context = MultiStepContext()
    start = nest.flatten(initial_loop_values or {}, expand_composites=True)

    def step(number: Any, *_: Any) -> list[Any]:
        result = fn(context, iterator.get_next())
        outputs = {
            name: _combined(strategy, context._reductions[name], value)
            for name, value in context._last_step_outputs.items()
        }
        context._last_step_outputs = outputs
        before = [] if scopes.executing_eagerly() else nest.flatten(result, expand_composites=True)
        with scopes.control_dependencies([v for v in before if v is not None]):
            return [number + 1, *nest.flatten(outputs, expand_composites=True)]

    def more(number: Any, *_: Any) -> Any:
        return number < iterations

    final = choices.while_loop(more, step, [0, *start], parallel_iterations=1)
    context._last_step_outputs = nest.pack_sequence_as(
        context._last_step_outputs, final[1:], expand_composites=True
    )
    context.run_op = ordering.group(final, None, {})
    return context


def _combined(strategy: Any, reduction: ReduceOp | None, value: Any) -> Any:
    """An output of a step: over replicas, or the values of the replicas of this process."""
    if reduction is not None:
        return strategy.reduce(reduction, value, axis=None)
    return regrouped(strategy.experimental_local_results(value))


__all__ = ["InputIterator", "MultiStepContext", "run_steps"]
