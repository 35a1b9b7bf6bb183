"""Optimizer steps: one op reads a variable and its slots and writes all of them.

Follows https://www.tensorflow.org/api_docs/python/tf/raw_ops/ResourceApplyAdam and its
neighbours. All new values are computed before the first is written, so that a failing step
leaves every variable as it was.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from intaglio.base.dtypes import NUMERIC, DType
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import brackets
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.state.resource_variable import check_compatible, contents_of

# The inputs of these ops besides the gradient: scalars.
SCALARS = frozenset(
    [
        "alpha",
        "lr",
        "momentum",
        "beta1_power",
        "beta2_power",
        "beta1",
        "beta2",
        "epsilon",
        "rho",
        "l1",
        "l2",
        "l2_shrinkage",
        "lr_power",
        "logbase",
        "sign_decay",
        "beta",
    ]
)


def step(kind: Any, slots: list[Any], gradient: Any, numbers: dict[str, Any]) -> None:
    """Assigns the results of `kind.update` to the variables, to all or to none."""
    for name, value in numbers.items():
        if name in SCALARS and np.ndim(value):
            raise invalid_argument(f"{name} is not a scalar: {brackets(value.shape)}")
    with ExitStack() as locks:
        for slot in sorted(slots, key=id):
            locks.enter_context(slot.lock)
        values = [slot.read() for slot in slots]
        for value in values:
            if value.shape != gradient.shape:
                raise invalid_argument(
                    f"var and grad do not have the same shape{brackets(value.shape)} {brackets(gradient.shape)}"
                )
            if value.dtype != gradient.dtype:
                raise invalid_argument(
                    f"var and grad do not have the same dtype: {value.dtype} {gradient.dtype}"
                )
        changed = kind.update(*values, gradient, **numbers)
        new_values = [np.asarray(new, gradient.dtype) for new in changed]
        for slot, new in zip(slots, new_values, strict=True):
            slot.assign(new)


def step_rows(
    kind: Any, slots: list[Any], gradient: Any, indices: Any, numbers: dict[str, Any]
) -> None:
    """As `step`, for the rows named by indices; rows named twice are updated twice."""
    with ExitStack() as locks:
        for slot in sorted(slots, key=id):
            locks.enter_context(slot.lock)
        new_values = [np.array(slot.read()) for slot in slots]
        first = new_values[0]
        if gradient.shape != indices.shape + first.shape[1:]:
            raise invalid_argument(
                "grad must be the same size as indices in the first dimension and as var in the others: "
                f"{brackets(gradient.shape)}, {brackets(indices.shape)}, {brackets(first.shape)}"
            )
        for number, row in zip(indices.tolist(), gradient, strict=True):
            if not 0 <= number < len(first):
                raise invalid_argument(
                    f"Index {number} at offset 0 in indices is out of range [0, {len(first)})"
                )
            changed = kind.update(*[v[number] for v in new_values], row, **numbers)
            for value, new in zip(new_values, changed, strict=True):
                value[number] = new
        for slot, new in zip(slots, new_values, strict=True):
            slot.assign(new)


class Step(Op):
    """An optimizer's step; `update` makes the new values of the variable and its slots."""

    T: tuple[DType, ...] = NUMERIC
    stateful = True

    # A static method: the new values of the variables, in the order of the inputs. Each step
    # takes the numbers that its signature names.
    update: Any = None


def fitting(gradient: Spec, *slots: Spec) -> None:
    """Raises ShapeError unless all variables have the gradient's shape."""
    for slot in slots:
        contents = contents_of(slot, gradient.dtype)
        if contents.dtype is not gradient.dtype:
            raise ShapeError(
                f"a variable of {contents.dtype.name} and a gradient of {gradient.dtype.name}"
            )
        check_compatible(contents.shape, gradient.shape)


def _decayed(slot: Any, value: Any, rate: Any) -> Any:
    """The moving average of a slot and a value."""
    return slot + (value - slot) * (1 - rate)


@op
class ResourceApplyGradientDescent(Step):
    """var -= alpha * delta."""

    signature = "var: resource, alpha: T, delta: T; use_locking: bool = False -> "

    def infer(self, var: Spec, delta: Spec) -> None:
        fitting(delta, var)

    def kernel(self, var, alpha, delta):
        step(self, [var], delta, {"alpha": alpha})

    @staticmethod
    def update(var, g, alpha):
        return (var - alpha * g,)


@op
class ResourceApplyProximalGradientDescent(Step):
    """A gradient step, then shrinkage by l1 and l2."""

    signature = "var: resource, alpha: T, l1: T, l2: T, delta: T; use_locking: bool = False -> "

    def infer(self, var: Spec, delta: Spec) -> None:
        fitting(delta, var)

    def kernel(self, var, alpha, l1, l2, delta):
        step(self, [var], delta, {"alpha": alpha, "l1": l1, "l2": l2})

    @staticmethod
    def update(var, g, alpha, l1, l2):
        moved = var - alpha * g
        if l1 > 0:
            moved = np.sign(moved) * np.maximum(np.abs(moved) - alpha * l1, 0)
        return (moved / (1 + l2 * alpha),)


class _Momentum(Step):
    signature = (
        "var: resource, accum: resource, lr: T, grad: T, momentum: T;"
        " use_locking: bool = False, use_nesterov: bool = False -> "
    )

    def infer(self, var: Spec, accum: Spec, grad: Spec) -> None:
        fitting(grad, var, accum)

    def kernel(self, var, accum, lr, grad, momentum, use_nesterov):
        numbers = {"lr": lr, "momentum": momentum, "nesterov": use_nesterov}
        step(self, [var, accum], grad, numbers)


class _SparseMomentum(Step):
    signature = (
        "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T;"
        " use_locking: bool = False, use_nesterov: bool = False -> "
    )
    Tindices = tuple(d for d in NUMERIC if d.name in ("int32", "int64"))

    def infer(self) -> None:
        return None

    def kernel(self, var, accum, lr, grad, indices, momentum, use_nesterov):
        numbers = {"lr": lr, "momentum": momentum, "nesterov": use_nesterov}
        step_rows(self, [var, accum], grad, indices, numbers)


def _with_momentum(var: Any, accum: Any, g: Any, lr: Any, momentum: Any, nesterov: Any):
    accum = accum * momentum + g
    ahead = g * lr + accum * momentum * lr if nesterov else lr * accum
    return var - ahead, accum


def _with_keras_momentum(var: Any, accum: Any, g: Any, lr: Any, momentum: Any, nesterov: Any):
    accum = accum * momentum - lr * g
    return var + (accum * momentum - lr * g if nesterov else accum), accum


@op
class ResourceApplyMomentum(_Momentum):
    """accum = accum * momentum + grad; var -= lr * accum."""

    update = staticmethod(_with_momentum)


@op
class ResourceApplyKerasMomentum(_Momentum):
    """accum = accum * momentum - lr * grad; var += accum."""

    update = staticmethod(_with_keras_momentum)


@op
class ResourceSparseApplyMomentum(_SparseMomentum):
    """ResourceApplyMomentum for the rows named by indices."""

    update = staticmethod(_with_momentum)


@op
class ResourceSparseApplyKerasMomentum(_SparseMomentum):
    """ResourceApplyKerasMomentum for the rows named by indices."""

    update = staticmethod(_with_keras_momentum)


@op
class ResourceApplyAdam(Step):
    """Moving averages of the gradient and its square; a step by their quotient."""

    signature = (
        "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T,"
        " beta1: T, beta2: T, epsilon: T, grad: T; use_locking: bool = False,"
        " use_nesterov: bool = False -> "
    )

    def infer(self, var: Spec, m: Spec, v: Spec, grad: Spec) -> None:
        fitting(grad, var, m, v)

    def kernel(
        self, var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov
    ):
        numbers = {
            "beta1_power": beta1_power,
            "beta2_power": beta2_power,
            "lr": lr,
            "beta1": beta1,
            "beta2": beta2,
            "epsilon": epsilon,
            "nesterov": use_nesterov,
        }
        step(self, [var, m, v], grad, numbers)

    @staticmethod
    def update(var, m, v, g, beta1_power, beta2_power, lr, beta1, beta2, epsilon, nesterov):
        rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = _decayed(m, g, beta1), _decayed(v, g * g, beta2)
        ahead = m * beta1 + (1 - beta1) * g if nesterov else m
        return var - ahead * rate / (np.sqrt(v) + epsilon), m, v


@op
class ResourceApplyAdamWithAmsgrad(Step):
    """Adam whose step is divided by the largest average square so far."""

    signature = (
        "var: resource, m: resource, v: resource, vhat: resource, beta1_power: T,"
        " beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T;"
        " use_locking: bool = False -> "
    )

    def infer(self, var: Spec, m: Spec, v: Spec, vhat: Spec, grad: Spec) -> None:
        fitting(grad, var, m, v, vhat)

    def kernel(self, var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
        numbers = {"beta1_power": beta1_power, "beta2_power": beta2_power, "lr": lr}
        numbers |= {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}
        step(self, [var, m, v, vhat], grad, numbers)

    @staticmethod
    def update(var, m, v, vhat, g, beta1_power, beta2_power, lr, beta1, beta2, epsilon):
        rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = _decayed(m, g, beta1), _decayed(v, g * g, beta2)
        vhat = np.maximum(vhat, v)
        return var - m * rate / (np.sqrt(vhat) + epsilon), m, v, vhat


@op
class ResourceApplyAdaMax(Step):
    """Adam with the largest gradient so far instead of the average square."""

    signature = (
        "var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, beta2: T,"
        " epsilon: T, grad: T; use_locking: bool = False -> "
    )

    def infer(self, var: Spec, m: Spec, v: Spec, grad: Spec) -> None:
        fitting(grad, var, m, v)

    def kernel(self, var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
        numbers = {"beta1_power": beta1_power, "lr": lr, "beta1": beta1}
        step(self, [var, m, v], grad, {**numbers, "beta2": beta2, "epsilon": epsilon})

    @staticmethod
    def update(var, m, v, g, beta1_power, lr, beta1, beta2, epsilon):
        m, v = _decayed(m, g, beta1), np.maximum(beta2 * v, np.abs(g))
        return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


@op
class ResourceApplyAdagrad(Step):
    """accum += grad**2; var -= lr * grad / sqrt(accum)."""

    signature = (
        "var: resource, accum: resource, lr: T, grad: T; use_locking: bool = False,"
        " update_slots: bool = True -> "
    )

    def infer(self, var: Spec, accum: Spec, grad: Spec) -> None:
        fitting(grad, var, accum)

    def kernel(self, var, accum, lr, grad, update_slots):
        step(self, [var, accum], grad, {"lr": lr, "slots": update_slots})

    @staticmethod
    def update(var, accum, g, lr, slots):
        accum = accum + g * g if slots else accum
        return var - lr * g / np.sqrt(accum), accum


@op
class ResourceApplyAdagradV2(Step):
    """accum += grad**2; var -= lr * grad / (sqrt(accum) + epsilon)."""

    signature = (
        "var: resource, accum: resource, lr: T, epsilon: T, grad: T;"
        " use_locking: bool = False, update_slots: bool = True -> "
    )

    def infer(self, var: Spec, accum: Spec, grad: Spec) -> None:
        fitting(grad, var, accum)

    def kernel(self, var, accum, lr, epsilon, grad, update_slots):
        numbers = {"lr": lr, "epsilon": epsilon, "slots": update_slots}
        step(self, [var, accum], grad, numbers)

    @staticmethod
    def update(var, accum, g, lr, epsilon, slots):
        accum = accum + g * g if slots else accum
        return var - lr * g / (np.sqrt(accum) + epsilon), accum


@op
class ResourceApplyAdadelta(Step):
    """Steps as large as past steps were, in the proportion of past gradients."""

    signature = (
        "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T,"
        " grad: T; use_locking: bool = False -> "
    )

    def infer(self, var: Spec, accum: Spec, accum_update: Spec, grad: Spec) -> None:
        fitting(grad, var, accum, accum_update)

    def kernel(self, var, accum, accum_update, lr, rho, epsilon, grad):
        numbers = {"lr": lr, "rho": rho, "epsilon": epsilon}
        step(self, [var, accum, accum_update], grad, numbers)

    @staticmethod
    def update(var, accum, past, g, lr, rho, epsilon):
        accum = accum * rho + g * g * (1 - rho)
        ahead = np.sqrt(past + epsilon) / np.sqrt(accum + epsilon) * g
        return var - ahead * lr, accum, past * rho + ahead * ahead * (1 - rho)


@op
class ResourceApplyRMSProp(Step):
    """The gradient divided by the root of its average square, with momentum."""

    signature = (
        "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T,"
        " grad: T; use_locking: bool = False -> "
    )

    def infer(self, var: Spec, ms: Spec, mom: Spec, grad: Spec) -> None:
        fitting(grad, var, ms, mom)

    def kernel(self, var, ms, mom, lr, rho, momentum, epsilon, grad):
        numbers = {"lr": lr, "rho": rho, "momentum": momentum, "epsilon": epsilon}
        step(self, [var, ms, mom], grad, numbers)

    @staticmethod
    def update(var, ms, mom, g, lr, rho, momentum, epsilon):
        ms = _decayed(ms, g * g, rho)
        mom = mom * momentum + g * lr / np.sqrt(ms + epsilon)
        return var - mom, ms, mom


@op
class ResourceApplyCenteredRMSProp(Step):
    """RMSProp with the variance of the gradient instead of its average square."""

    signature = (
        "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T,"
        " momentum: T, epsilon: T, grad: T; use_locking: bool = False -> "
    )

    def infer(self, var: Spec, mg: Spec, ms: Spec, mom: Spec, grad: Spec) -> None:
        fitting(grad, var, mg, ms, mom)

    def kernel(self, var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
        numbers = {"lr": lr, "rho": rho, "momentum": momentum, "epsilon": epsilon}
        step(self, [var, mg, ms, mom], grad, numbers)

    @staticmethod
    def update(var, mg, ms, mom, g, lr, rho, momentum, epsilon):
        ms, mg = _decayed(ms, g * g, rho), _decayed(mg, g, rho)
        mom = mom * momentum + lr * g / np.sqrt(ms - mg * mg + epsilon)
        return var - mom, mg, ms, mom


def _ftrl(var: Any, accum: Any, linear: Any, g: Any, shrunk: Any, n: dict[str, Any]) -> Any:
    lr, l1, l2, power = n["lr"], n["l1"], n["l2"], n["lr_power"]
    grown = accum + g * g
    before, after = np.power(accum, -power), np.power(grown, -power)
    if n["multiplied"]:
        linear = linear + shrunk * lr - (after - before) * var
        curve, edge = after + 2 * l2 * lr, l1 * lr
    else:
        linear = linear + shrunk - (after - before) / lr * var
        curve, edge = after / lr + 2 * l2, l1
    moved = (np.sign(linear) * edge - linear) / curve
    new = np.where(np.abs(linear) > edge, moved, np.zeros_like(var))
    return new, grown, linear


@op
class ResourceApplyFtrl(Step):
    """Follow the regularised leader."""

    signature = (
        "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T,"
        " lr_power: T; use_locking: bool = False, multiply_linear_by_lr: bool = False -> "
    )

    def infer(self, var: Spec, accum: Spec, linear: Spec, grad: Spec) -> None:
        fitting(grad, var, accum, linear)

    def kernel(self, var, accum, linear, grad, lr, l1, l2, lr_power, multiply_linear_by_lr):
        numbers = {"lr": lr, "l1": l1, "l2": l2, "lr_power": lr_power}
        numbers["multiplied"] = multiply_linear_by_lr
        step(self, [var, accum, linear], grad, numbers)

    @staticmethod
    def update(var, accum, linear, g, **numbers):
        return _ftrl(var, accum, linear, g, g, numbers)


@op
class ResourceApplyFtrlV2(Step):
    """Follow the regularised leader, shrinking the variable besides."""

    signature = (
        "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T,"
        " l2_shrinkage: T, lr_power: T; use_locking: bool = False,"
        " multiply_linear_by_lr: bool = False -> "
    )

    def infer(self, var: Spec, accum: Spec, linear: Spec, grad: Spec) -> None:
        fitting(grad, var, accum, linear)

    def kernel(
        self, var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, multiply_linear_by_lr
    ):
        numbers = {"lr": lr, "l1": l1, "l2": l2, "lr_power": lr_power}
        numbers |= {"l2_shrinkage": l2_shrinkage, "multiplied": multiply_linear_by_lr}
        step(self, [var, accum, linear], grad, numbers)

    @staticmethod
    def update(var, accum, linear, g, l2_shrinkage, **numbers):
        return _ftrl(var, accum, linear, g, g + 2 * l2_shrinkage * var, numbers)


@op
class ResourceApplyAddSign(Step):
    """The gradient times `alpha + sign_decay * sign(grad) * sign(m)`, m its moving average."""

    signature = (
        "var: resource, m: resource, lr: T, alpha: T, sign_decay: T, beta: T, grad: T;"
        " use_locking: bool = False -> "
    )

    def infer(self, var: Spec, m: Spec, grad: Spec) -> None:
        fitting(grad, var, m)

    def kernel(self, var, m, lr, alpha, sign_decay, beta, grad):
        numbers = {"lr": lr, "alpha": alpha, "sign_decay": sign_decay, "beta": beta}
        step(self, [var, m], grad, numbers)

    @staticmethod
    def update(var, m, g, lr, alpha, sign_decay, beta):
        m = _decayed(m, g, beta)
        return var - lr * (alpha + sign_decay * np.sign(g) * np.sign(m)) * g, m


@op
class ResourceApplyPowerSign(Step):
    """The gradient times `exp(logbase * sign_decay * sign(grad) * sign(m))`, m its moving average."""

    signature = (
        "var: resource, m: resource, lr: T, logbase: T, sign_decay: T, beta: T, grad: T;"
        " use_locking: bool = False -> "
    )

    def infer(self, var: Spec, m: Spec, grad: Spec) -> None:
        fitting(grad, var, m)

    def kernel(self, var, m, lr, logbase, sign_decay, beta, grad):
        numbers = {"lr": lr, "logbase": logbase, "sign_decay": sign_decay, "beta": beta}
        step(self, [var, m], grad, numbers)

    @staticmethod
    def update(var, m, g, lr, logbase, sign_decay, beta):
        m = _decayed(m, g, beta)
        return var - lr * np.exp(logbase * sign_decay * np.sign(g) * np.sign(m)) * g, m
