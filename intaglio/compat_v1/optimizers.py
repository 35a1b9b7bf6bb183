"""Optimizers of TensorFlow 1, eagerly, in functions and in plain graphs.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/Optimizer. In a plain graph
`minimize` takes a tensor and returns the operation that a session runs. Elsewhere it takes a function of
no arguments, since eagerly nothing remembers how a loss was computed.
"""

from __future__ import annotations

from typing import Any

from intaglio.autodiff.gradient_tape import GradientTape
from intaglio.autodiff.graph_gradient import graph_gradients
from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.compat_v1.variable_scopes import GraphKeys, trainable_variables
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.state.tracking import AutoTrackable
from intaglio.state.variable import Variable
from intaglio.trace import scopes


class _Writes:
    """The operations of a graph since then that change variables."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._start = len(graph.nodes)

    def found(self) -> list[Any]:
        """The operations, in order."""
        initializers = {
            v.initializer for v in self._graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        }
        return [
            n
            for n in self._graph.nodes[self._start :]
            if n.op.stateful and not n.op.droppable and n.inputs and n not in initializers
        ]


class Optimizer(AutoTrackable):
    """Applies gradients to variables; subclasses say how one variable changes."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2
    _slots: tuple[str, ...] = ()

    def __init__(self, use_locking: bool = False, name: str = "Optimizer") -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name = name
        self._use_locking = use_locking
        self._slot_variables: dict[Any, dict[str, Variable]] = {}

    def get_name(self) -> str:
        """The optimizer's name."""
        return self._name

    def get_slot_names(self) -> list[str]:
        """What is kept for each variable."""
        return sorted(self._slots)

    def get_slot(self, var: Any, name: str) -> Any:
        """What is kept for a variable under a name, or None."""
        return self._slot_variables.get(var.ref(), {}).get(name)

    def variables(self) -> list[Any]:
        """The variables of the optimizer."""
        return [slot for slots in self._slot_variables.values() for slot in slots.values()]

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs of a function of no arguments, or of a tensor of a graph.

        Raises RuntimeError eagerly for a loss that is a tensor: use a `tf.GradientTape` for it.
        """
        if isinstance(loss, SymbolicTensor):
            chosen = trainable_variables() if var_list is None else nest.flatten(var_list)
            found = graph_gradients(loss, chosen, grad_loss)
            return list(zip(found, chosen, strict=True))
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        chosen = tape.watched_variables() if var_list is None else var_list
        gradients = tape.gradient(value, chosen, grad_loss)
        return list(zip(gradients, chosen, strict=True))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Changes the variables; in a plain graph by the operation that is returned.

        Raises ValueError if no gradient is given.
        """
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        graph: Any = getattr(door.level(), "graph", None)
        if graph is not None and not graph.building_function:
            return self._recorded(graph, pairs, global_step, name)
        self._change(pairs)
        self._finish()
        return None if global_step is None else global_step.assign_add(1)

    def _recorded(self, graph: Any, pairs: Any, global_step: Any, name: str | None) -> Any:
        """The operation by which a session changes the variables."""
        with scopes.name_scope(name or self._name) as scope:
            writes = _Writes(graph)
            self._change(pairs)
            with scopes.control_dependencies(writes.found()):
                self._finish()
            if global_step is not None:
                with scopes.control_dependencies(writes.found()):
                    global_step.assign_add(1)
            with scopes.control_dependencies(writes.found()):
                operation = raw.NoOp(name=scope)
        graph.add_to_collection(GraphKeys.TRAIN_OP, operation)
        return operation

    def _change(self, pairs: Any) -> None:
        """All changes but the last ones."""
        with scopes.init_scope():
            for _, variable in pairs:
                self._slot_variables.setdefault(variable.ref(), self._created(variable))
        self._prepare()
        for gradient, variable in pairs:
            dense = isinstance(gradient, CompositeTensor)
            value = convert.to_tensor(gradient) if dense else gradient
            self._apply(raw.Cast(value, DstT=variable.dtype), variable)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """Computes gradients and applies them."""
        pairs = self.compute_gradients(loss, var_list, grad_loss=grad_loss)
        return self.apply_gradients(pairs, global_step, name)

    def _created(self, variable: Any) -> dict[str, Variable]:
        return {
            name: Variable(
                raw.Fill(raw.Shape(variable), raw.Cast(self._first(name), DstT=variable.dtype)),
                trainable=False,
                name=f"{variable.name.partition(':')[0]}/{self._name}/{name}",
            )
            for name in self._slots
        }

    def _first(self, slot: str) -> float:
        return 0.0

    def _slot(self, variable: Any, name: str) -> Any:
        return self._slot_variables[variable.ref()][name].handle

    def _prepare(self) -> None:
        """Called before the variables change."""

    def _finish(self) -> None:
        """Called after all variables have changed."""

    def _apply(self, gradient: Any, variable: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say how a variable changes")


def _value(x: Any, variable: Any) -> Any:
    """A hyperparameter, or what a function of no arguments returns, in the variable's dtype."""
    return raw.Cast(convert.to_tensor(x() if callable(x) else x), DstT=variable.dtype)


class GradientDescentOptimizer(Optimizer):
    """variable -= rate * gradient."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _apply(self, gradient: Any, variable: Any) -> None:
        rate = _value(self._learning_rate, variable)
        raw.ResourceApplyGradientDescent(variable.handle, rate, gradient)


class MomentumOptimizer(Optimizer):
    """accumulation = momentum * accumulation + gradient; variable -= rate * accumulation."""

    _slots = ("momentum",)

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._nesterov = use_nesterov

    def _apply(self, gradient: Any, variable: Any) -> None:
        raw.ResourceApplyMomentum(
            variable.handle,
            self._slot(variable, "momentum"),
            _value(self._learning_rate, variable),
            gradient,
            _value(self._momentum, variable),
            use_nesterov=self._nesterov,
        )


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2014), with epsilon outside of the correction."""

    _slots = ("m", "v")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._epsilon = learning_rate, epsilon
        self._beta1, self._beta2 = beta1, beta2
        self._powers: tuple[Variable, Variable] | None = None

    def variables(self) -> list[Any]:
        """The variables of the optimizer, the powers of beta first."""
        return [*(self._powers or ()), *super().variables()]

    def _prepare(self) -> None:
        if self._powers is None:
            with scopes.init_scope():
                self._powers = tuple(  # type: ignore[assignment]  # two
                    Variable(_float(beta), trainable=False, name=f"{name}_power")
                    for name, beta in (("beta1", self._beta1), ("beta2", self._beta2))
                )

    def _apply(self, gradient: Any, variable: Any) -> None:
        assert self._powers is not None
        raw.ResourceApplyAdam(
            variable.handle,
            self._slot(variable, "m"),
            self._slot(variable, "v"),
            _value(self._powers[0], variable),
            _value(self._powers[1], variable),
            _value(self._learning_rate, variable),
            _value(self._beta1, variable),
            _value(self._beta2, variable),
            _value(self._epsilon, variable),
            gradient,
        )

    def _finish(self) -> None:
        assert self._powers is not None
        for power, beta in zip(self._powers, (self._beta1, self._beta2), strict=True):
            power.assign(power * _float(beta))


def _float(x: Any) -> Any:
    return x() if callable(x) else x


class AdagradOptimizer(Optimizer):
    """accumulation += gradient ** 2; variable -= rate * gradient / sqrt(accumulation)."""

    _slots = ("accumulator",)

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate, self._start = learning_rate, initial_accumulator_value

    def _first(self, slot: str) -> float:
        return self._start

    def _apply(self, gradient: Any, variable: Any) -> None:
        rate = _value(self._learning_rate, variable)
        slot = self._slot(variable, "accumulator")
        raw.ResourceApplyAdagrad(variable.handle, slot, rate, gradient)


class RMSPropOptimizer(Optimizer):
    """The gradient over the root of its mean square, with momentum."""

    _slots = ("momentum", "rms")

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._decay = learning_rate, decay
        self._momentum, self._epsilon = momentum, epsilon
        self._centered = centered
        if centered:
            self._slots = ("mg", "momentum", "rms")

    def _first(self, slot: str) -> float:
        return float(slot == "rms")

    def _apply(self, gradient: Any, variable: Any) -> None:
        means = [self._slot(variable, "mg")] if self._centered else []
        apply = raw.ResourceApplyCenteredRMSProp if self._centered else raw.ResourceApplyRMSProp
        apply(
            variable.handle,
            *means,
            self._slot(variable, "rms"),
            self._slot(variable, "momentum"),
            *[
                _value(x, variable)
                for x in (self._learning_rate, self._decay, self._momentum, self._epsilon)
            ],
            gradient,
        )


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler, 2012)."""

    _slots = ("accum", "accum_update")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _apply(self, gradient: Any, variable: Any) -> None:
        raw.ResourceApplyAdadelta(
            variable.handle,
            self._slot(variable, "accum"),
            self._slot(variable, "accum_update"),
            *[_value(x, variable) for x in (self._learning_rate, self._rho, self._epsilon)],
            gradient,
        )


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader (McMahan et al., 2013)."""

    _slots = ("accum", "linear")

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
    ) -> None:
        super().__init__(use_locking, name)
        self._arguments = (
            learning_rate,
            l1_regularization_strength,
            l2_regularization_strength,
            learning_rate_power,
        )
        self._start = initial_accumulator_value

    def _first(self, slot: str) -> float:
        return self._start if slot == "accum" else 0.0

    def _apply(self, gradient: Any, variable: Any) -> None:
        raw.ResourceApplyFtrl(
            variable.handle,
            self._slot(variable, "accum"),
            self._slot(variable, "linear"),
            gradient,
            *[_value(x, variable) for x in self._arguments],
        )
