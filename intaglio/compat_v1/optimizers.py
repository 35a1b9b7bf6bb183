"""The optimizers of TensorFlow 1: how each changes a variable.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/AdamOptimizer and its neighbours.
"""

from __future__ import annotations

from typing import Any

from intaglio.compat_v1.optimizer import Optimizer, grouped
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.trace import scopes


def _value(x: Any, variable: Any) -> Any:
    """A hyperparameter, or what a function of no arguments returns, in the variable's dtype."""
    return raw.Cast(convert.to_tensor(x() if callable(x) else x), DstT=variable.dtype)


def _values(variable: Any, *numbers: Any) -> list[Any]:
    return [_value(x, variable) for x in numbers]


class GradientDescentOptimizer(Optimizer):
    """variable -= rate * gradient."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        rate = _value(self._learning_rate, handle)
        return raw.ResourceApplyGradientDescent(handle.handle, rate, grad)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        rate = _value(self._learning_rate, handle)
        return raw.ResourceScatterAdd(handle.handle, indices, -grad * rate)


class MomentumOptimizer(Optimizer):
    """accumulation = momentum * accumulation + gradient; variable -= rate * accumulation."""

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
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        rate, momentum = _values(handle, self._learning_rate, self._momentum)
        slot = self.get_slot(handle, "momentum").handle
        return raw.ResourceApplyMomentum(
            handle.handle, slot, rate, grad, momentum, use_nesterov=self._use_nesterov
        )

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        rate, momentum = _values(handle, self._learning_rate, self._momentum)
        slot = self.get_slot(handle, "momentum").handle
        return raw.ResourceSparseApplyMomentum(
            handle.handle, slot, rate, grad, indices, momentum, use_nesterov=self._use_nesterov
        )


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2014), with epsilon outside of the correction."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._lr, self._epsilon = learning_rate, epsilon
        self._beta1, self._beta2 = beta1, beta2

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        for name, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            self._create_non_slot_variable(self._call_if_callable(beta), name, first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        """The variables of beta1 ** steps and beta2 ** steps."""
        first, second = [
            self._get_non_slot_variable(name) for name in ("beta1_power", "beta2_power")
        ]
        return first, second

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        numbers = (
            *self._get_beta_accumulators(),
            self._lr,
            self._beta1,
            self._beta2,
            self._epsilon,
        )
        slots = [self.get_slot(handle, name).handle for name in ("m", "v")]
        return raw.ResourceApplyAdam(handle.handle, *slots, *_values(handle, *numbers), grad)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        numbers = (
            *self._get_beta_accumulators(),
            self._lr,
            self._beta1,
            self._beta2,
            self._epsilon,
        )
        power1, power2, rate, beta1, beta2, epsilon = _values(handle, *numbers)
        rate = rate * raw.Sqrt(1 - power2) / (1 - power1)
        m = self._decayed(handle, "m", beta1, grad, indices)
        v = self._decayed(handle, "v", beta2, grad * grad, indices)
        return raw.AssignSubVariableOp(handle.handle, rate * m / (raw.Sqrt(v) + epsilon))

    def _decayed(self, variable: Any, slot: str, beta: Any, rows: Any, indices: Any) -> Any:
        """The new value of a slot: all of it decays, and the rows get what is new."""
        kept = self.get_slot(variable, slot)
        decayed = kept.assign(kept * beta)
        with scopes.control_dependencies([decayed]):
            grown = kept.scatter_add(IndexedSlices(rows * (1 - beta), indices))
        with scopes.control_dependencies([grown]):
            return raw.ReadVariableOp(kept.handle, dtype=kept.dtype)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with scopes.control_dependencies([o for o in update_ops if o is not None]):
            powers = [
                power.assign(power * _value(beta, power))
                for power, beta in zip(
                    self._get_beta_accumulators(), (self._beta1, self._beta2), strict=True
                )
            ]
        changed = [power.op if scopes.current_graph() is not None else None for power in powers]
        return grouped([*update_ops, *changed], name_scope)


class AdagradOptimizer(Optimizer):
    """accumulation += gradient ** 2; variable -= rate * gradient / sqrt(accumulation)."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        _check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._filled_slot(variable, self._initial_accumulator_value, "accumulator", self._name)

    def _arguments(self, variable: Any) -> list[Any]:
        slot = self.get_slot(variable, "accumulator").handle
        return [variable.handle, slot, *_values(variable, self._learning_rate)]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return raw.ResourceApplyAdagrad(*self._arguments(handle), grad)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return raw.ResourceSparseApplyAdagrad(*self._arguments(handle), grad, indices)


class ProximalAdagradOptimizer(AdagradOptimizer):
    """Adagrad, then shrinkage by l1 and l2."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _arguments(self, variable: Any) -> list[Any]:
        return [*super()._arguments(variable), *_values(variable, self._l1, self._l2)]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return raw.ResourceApplyProximalAdagrad(*self._arguments(handle), grad)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return raw.ResourceSparseApplyProximalAdagrad(*self._arguments(handle), grad, indices)


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then shrinkage by l1 and l2."""

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, l1_regularization_strength, l2_regularization_strength)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return raw.ResourceApplyProximalGradientDescent(
            handle.handle, *_values(handle, *self._numbers), grad
        )

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return raw.ResourceSparseApplyProximalGradientDescent(
            handle.handle, *_values(handle, *self._numbers), grad, indices
        )


class AdagradDAOptimizer(Optimizer):
    """Adagrad by dual averaging, for sparse linear models."""

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        start = initial_gradient_squared_accumulator_value
        _check_positive("initial_gradient_squared_accumulator_value", start)
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, l1_regularization_strength, l2_regularization_strength)
        self._global_step, self._start = global_step, start

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "gradient_accumulator", self._name)
            self._filled_slot(variable, self._start, "gradient_squared_accumulator", self._name)

    def _arguments(self, variable: Any) -> tuple[list[Any], list[Any]]:
        names = ("gradient_accumulator", "gradient_squared_accumulator")
        slots = [self.get_slot(variable, name).handle for name in names]
        step = raw.AddV2(raw.Cast(convert.to_tensor(self._global_step), DstT="int64"), 1)
        return [variable.handle, *slots], [*_values(variable, *self._numbers), step]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        variables, numbers = self._arguments(handle)
        return raw.ResourceApplyAdagradDA(*variables, grad, *numbers)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        variables, numbers = self._arguments(handle)
        return raw.ResourceSparseApplyAdagradDA(*variables, grad, indices, *numbers)


class RMSPropOptimizer(Optimizer):
    """The gradient over the root of its mean square, with momentum."""

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

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._filled_slot(variable, 1.0, "rms", self._name)
            if self._centered:
                self._zeros_slot(variable, "mg", self._name)
            self._zeros_slot(variable, "momentum", self._name)

    def _arguments(self, variable: Any) -> list[Any]:
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        slots = [self.get_slot(variable, name).handle for name in names]
        numbers = (self._learning_rate, self._decay, self._momentum, self._epsilon)
        return [variable.handle, *slots, *_values(variable, *numbers)]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        apply = raw.ResourceApplyCenteredRMSProp if self._centered else raw.ResourceApplyRMSProp
        return apply(*self._arguments(handle), grad)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        if self._centered:
            apply = raw.ResourceSparseApplyCenteredRMSProp
        else:
            apply = raw.ResourceSparseApplyRMSProp
        return apply(*self._arguments(handle), grad, indices)


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler, 2012)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "accum", self._name)
            self._zeros_slot(variable, "accum_update", self._name)

    def _arguments(self, variable: Any) -> list[Any]:
        slots = [self.get_slot(variable, name).handle for name in ("accum", "accum_update")]
        numbers = _values(variable, self._lr, self._rho, self._epsilon)
        return [variable.handle, *slots, *numbers]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return raw.ResourceApplyAdadelta(*self._arguments(handle), grad)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return raw.ResourceSparseApplyAdadelta(*self._arguments(handle), grad, indices)


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader (McMahan et al., 2013)."""

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        super().__init__(use_locking, name)
        for argument, number in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if number < 0.0:
                raise ValueError(f"{argument} {number:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        self._learning_rate, self._power = learning_rate, learning_rate_power
        self._start = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._beta, self._shrinkage = beta or 0.0, l2_shrinkage_regularization_strength
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._filled_slot(variable, self._start, "accum", self._accum_name or self._name)
            self._zeros_slot(variable, "linear", self._linear_name or self._name)

    def _arguments(self, variable: Any) -> tuple[list[Any], list[Any]]:
        slots = [self.get_slot(variable, name).handle for name in ("accum", "linear")]
        rate, l1, l2 = _values(variable, self._learning_rate, self._l1, self._l2)
        l2 = l2 + _value(self._beta, variable) / (2.0 * rate)
        more = [_value(self._shrinkage, variable)] if self._shrinkage > 0.0 else []
        return [variable.handle, *slots], [rate, l1, l2, *more, _value(self._power, variable)]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        apply = raw.ResourceApplyFtrlV2 if self._shrinkage > 0.0 else raw.ResourceApplyFtrl
        variables, numbers = self._arguments(handle)
        return apply(*variables, grad, *numbers)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        if self._shrinkage > 0.0:
            apply = raw.ResourceSparseApplyFtrlV2
        else:
            apply = raw.ResourceSparseApplyFtrl
        variables, numbers = self._arguments(handle)
        return apply(*variables, grad, indices, *numbers)


def _check_positive(name: str, value: float) -> None:
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")
