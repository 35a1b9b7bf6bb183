"""`tf.train.ExponentialMovingAverage`: exponentially decaying averages of variables.

Follows https://www.tensorflow.org/api_docs/python/tf/train/ExponentialMovingAverage.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16, float16, float32, float64
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.state.tracking import AutoTrackable
from intaglio.state.variable import Variable
from intaglio.trace import ordering
from intaglio.trace.scopes import current_graph, executing_eagerly, init_scope, name_scope


class ExponentialMovingAverage(AutoTrackable):
    """Keeps averages of variables: average = decay * average + (1 - decay) * value.

    An average begins as the variable's value. With `num_updates`, the decay is at most
    (1 + num_updates) / (10 + num_updates), so that averages move faster at the start.

    >>> weights = tf.Variable([1.0, 2.0])
    >>> average = tf.train.ExponentialMovingAverage(0.5)
    >>> average.apply([weights])
    >>> _ = weights.assign([3.0, 4.0])
    >>> average.apply([weights])
    >>> average.average(weights).numpy()
    array([2., 3.], dtype=float32)
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._ema_name = name
        # Averages by their variables: (a reference to the variable, its average).
        self._averages: dict[int, tuple[Any, Variable]] = {}

    @property
    def name(self) -> str:
        """The suffix of the averages' names."""
        return self._ema_name

    def apply(self, var_list: Any = None) -> Any:
        """Updates the averages of the variables; creates averages that do not exist yet.

        In a graph tensors have averages, too. Raises TypeError for what is no variable of floats, ValueError
        for an empty list.
        """
        if not var_list:
            raise ValueError(
                f"ExponentialMovingAverage.apply() needs the variables: var_list is {var_list!r}"
            )
        return ordering.group([self._moved(v) for v in var_list], self._ema_name, {})

    def _moved(self, variable: Any) -> Any:
        is_variable = isinstance(variable, Variable)
        if not is_variable and (not isinstance(variable, Tensor) or executing_eagerly()):
            raise TypeError(
                "tf.train.ExponentialMovingAverage does not support non-Variable tensors when "
                "eager execution is enabled."
            )
        dtype = variable.dtype
        if dtype not in (bfloat16, float16, float32, float64):
            raise TypeError(f"The variables must be half, float, or double: {variable.name}")
        if not is_variable and self._zero_debias:
            raise NotImplementedError(
                "zero_debias=True for averages of tensors. Divide the average by 1 - decay**steps."
            )
        average = self.average(variable)
        if average is None:
            average = self._new(variable)
        value = variable.read_value() if is_variable else variable
        decay = convert.to_tensor(self._decay, dtype)
        if self._num_updates is not None:
            n = raw.Cast(convert.to_tensor(self._num_updates), DstT=dtype)
            decay = raw.Minimum(decay, (n + 1) / (n + 10))
        distance = raw.Sub(average.read_value(), value)
        return average.assign_sub(distance * (1 - decay))

    def _new(self, variable: Any) -> Variable:
        """A new average: initialized with the variable's value, or with zeros for a tensor."""
        name = self.average_name(variable)
        with init_scope(), name_scope(""):
            if isinstance(variable, Variable):
                result = Variable(variable.read_value(), trainable=False, name=name)
            else:
                shape = variable.shape.as_list()
                result = Variable(
                    lambda: raw.Fill(shape, np.zeros((), variable.dtype.numpy)), False, name=name
                )
        graph: Any = current_graph()
        if graph is not None and isinstance(variable, Variable):
            graph.add_to_collection("moving_average_variables", variable)
        self._averages[id(variable)] = (weakref.ref(variable), result)
        return result

    def average(self, var: Any) -> Variable | None:
        """The average of a variable, or None if there is none."""
        of, found = self._averages.get(id(var), (None, None))
        return found if of is not None and of() is var else None

    def average_name(self, var: Any) -> str:
        """The name of the variable's average."""
        return f"{var.name.rpartition(':')[0] or var.name}/{self._ema_name}"

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """The variables by the names that they are restored from: those of averages, or their own.

        `moving_avg_variables` have averages; by default those are all that have one, and the trainable
        variables of the graph. The other variables are those of the graph.
        """
        chosen = moving_avg_variables
        graph: Any = current_graph()
        if chosen is None:
            chosen = [v for of, _ in self._averages.values() if (v := of()) is not None]
            if graph is not None:
                chosen += graph.get_collection("trainable_variables")
        found = {self.average_name(v): v for v in chosen}
        averaged = {v.name.removesuffix(":0") for v in chosen}
        for variable in [] if graph is None else graph.get_collection("variables"):
            name = variable.name.removesuffix(":0")
            if name not in averaged:
                found.setdefault(name, variable)
        return found


__all__ = ["ExponentialMovingAverage"]
