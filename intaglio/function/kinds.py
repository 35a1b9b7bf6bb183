"""The kinds of callables of `tf.function`, as abstract classes.

Follows https://www.tensorflow.org/api_docs/python/tf/types/experimental.
"""

from __future__ import annotations

import abc
from typing import Any

from intaglio.state.tracking import Trackable


class Callable(metaclass=abc.ABCMeta):
    """Something with a FunctionType that can be called."""

    @property
    @abc.abstractmethod
    def function_type(self) -> Any:
        """The types of parameters and output."""

    @abc.abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it."""


class PolymorphicFunction(Callable, Trackable):
    """A callable that is traced for each kind of arguments: what `tf.function` makes."""

    @abc.abstractmethod
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The trace for these arguments or specs."""

    @abc.abstractmethod
    def _list_all_concrete_functions(self) -> list[Any]:
        """All traces, oldest first."""

    # The specs of `input_signature`, None without one.
    input_signature: Any

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The traces, by the names that saved models have for them; none for checkpoints."""
        if save_type == "checkpoint":
            return {}
        found = self._list_all_concrete_functions()
        if not found and self.input_signature is not None:
            found = [self.get_concrete_function()]
        return {f"trace_{i}": trace for i, trace in enumerate(found)}

    @abc.abstractmethod
    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Any:
        """The compiler's form of the trace."""


class ConcreteFunctionKind(Callable, Trackable):
    """One trace. `tf.types.experimental.ConcreteFunction`."""

    @property
    @abc.abstractmethod
    def inference_fn(self) -> Any:
        """The graph as an AtomicFunction."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}


class AtomicFunction(Callable):
    """A graph that is called with tensors alone."""

    @abc.abstractmethod
    def call_with_captures(self, args: Any, kwargs: dict[str, Any], captures: Any) -> Any:
        """Calls the graph with arguments and with values for what it captures."""
