"""Optimizer steps for some rows of a variable and its slots, and those of proximal methods.

Follows https://www.tensorflow.org/api_docs/python/tf/raw_ops/ResourceSparseApplyAdagrad and its
neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import NUMERIC
from intaglio.opdef.op import op
from intaglio.opdef.spec import Spec
from intaglio.ops.nn import training
from intaglio.ops.nn.training import Step, fitting, step, step_rows

_INDICES = tuple(d for d in NUMERIC if d.name in ("int32", "int64"))


class RowsStep(Step):
    """A step of the rows named by `indices`; `update` takes one row."""

    Tindices = _INDICES

    def infer(self) -> None:
        return None


@op
class ResourceSparseApplyAdagrad(RowsStep):
    """ResourceApplyAdagrad for the rows named by indices."""

    signature = (
        "var: resource, accum: resource, lr: T, grad: T, indices: Tindices;"
        " use_locking: bool = False, update_slots: bool = True -> "
    )
    update = staticmethod(training.ResourceApplyAdagrad.update)

    def kernel(self, var, accum, lr, grad, indices, update_slots):
        step_rows(self, [var, accum], grad, indices, {"lr": lr, "slots": update_slots})


@op
class ResourceSparseApplyAdagradV2(RowsStep):
    """ResourceApplyAdagradV2 for the rows named by indices."""

    signature = (
        "var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices;"
        " use_locking: bool = False, update_slots: bool = True -> "
    )
    update = staticmethod(training.ResourceApplyAdagradV2.update)

    def kernel(self, var, accum, lr, epsilon, grad, indices, update_slots):
        numbers = {"lr": lr, "epsilon": epsilon, "slots": update_slots}
        step_rows(self, [var, accum], grad, indices, numbers)


@op
class ResourceSparseApplyAdadelta(RowsStep):
    """ResourceApplyAdadelta for the rows named by indices."""

    signature = (
        "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T,"
        " grad: T, indices: Tindices; use_locking: bool = False -> "
    )
    update = staticmethod(training.ResourceApplyAdadelta.update)

    def kernel(self, var, accum, accum_update, lr, rho, epsilon, grad, indices):
        numbers = {"lr": lr, "rho": rho, "epsilon": epsilon}
        step_rows(self, [var, accum, accum_update], grad, indices, numbers)


@op
class ResourceSparseApplyRMSProp(RowsStep):
    """ResourceApplyRMSProp for the rows named by indices."""

    signature = (
        "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T,"
        " grad: T, indices: Tindices; use_locking: bool = False -> "
    )
    update = staticmethod(training.ResourceApplyRMSProp.update)

    def kernel(self, var, ms, mom, lr, rho, momentum, epsilon, grad, indices):
        numbers = {"lr": lr, "rho": rho, "momentum": momentum, "epsilon": epsilon}
        step_rows(self, [var, ms, mom], grad, indices, numbers)


@op
class ResourceSparseApplyCenteredRMSProp(RowsStep):
    """ResourceApplyCenteredRMSProp for the rows named by indices."""

    signature = (
        "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T,"
        " momentum: T, epsilon: T, grad: T, indices: Tindices; use_locking: bool = False -> "
    )
    update = staticmethod(training.ResourceApplyCenteredRMSProp.update)

    def kernel(self, var, mg, ms, mom, lr, rho, momentum, epsilon, grad, indices):
        numbers = {"lr": lr, "rho": rho, "momentum": momentum, "epsilon": epsilon}
        step_rows(self, [var, mg, ms, mom], grad, indices, numbers)


@op
class ResourceSparseApplyFtrl(RowsStep):
    """ResourceApplyFtrl for the rows named by indices."""

    signature = (
        "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T,"
        " l1: T, l2: T, lr_power: T; use_locking: bool = False,"
        " multiply_linear_by_lr: bool = False -> "
    )
    update = staticmethod(training.ResourceApplyFtrl.update)

    def kernel(
        self, var, accum, linear, grad, indices, lr, l1, l2, lr_power, multiply_linear_by_lr
    ):
        numbers = {"lr": lr, "l1": l1, "l2": l2, "lr_power": lr_power}
        numbers["multiplied"] = multiply_linear_by_lr
        step_rows(self, [var, accum, linear], grad, indices, numbers)


@op
class ResourceSparseApplyFtrlV2(RowsStep):
    """ResourceApplyFtrlV2 for the rows named by indices."""

    signature = (
        "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T,"
        " l1: T, l2: T, l2_shrinkage: T, lr_power: T; use_locking: bool = False,"
        " multiply_linear_by_lr: bool = False -> "
    )
    update = staticmethod(training.ResourceApplyFtrlV2.update)

    def kernel(
        self,
        var,
        accum,
        linear,
        grad,
        indices,
        lr,
        l1,
        l2,
        l2_shrinkage,
        lr_power,
        multiply_linear_by_lr,
    ):
        numbers = {"lr": lr, "l1": l1, "l2": l2, "lr_power": lr_power}
        numbers |= {"l2_shrinkage": l2_shrinkage, "multiplied": multiply_linear_by_lr}
        step_rows(self, [var, accum, linear], grad, indices, numbers)


@op
class ResourceSparseApplyProximalGradientDescent(RowsStep):
    """ResourceApplyProximalGradientDescent for the rows named by indices."""

    signature = (
        "var: resource, alpha: T, l1: T, l2: T, grad: T, indices: Tindices;"
        " use_locking: bool = False -> "
    )
    update = staticmethod(training.ResourceApplyProximalGradientDescent.update)

    def kernel(self, var, alpha, l1, l2, grad, indices):
        step_rows(self, [var], grad, indices, {"alpha": alpha, "l1": l1, "l2": l2})


def _proximal_adagrad(var: Any, accum: Any, g: Any, lr: Any, l1: Any, l2: Any) -> Any:
    accum = accum + g * g
    rate = lr / np.sqrt(accum)
    moved = var - g * rate
    if l1 > 0:
        moved = np.sign(moved) * np.maximum(np.abs(moved) - rate * l1, 0)
    return moved / (1 + l2 * rate), accum


@op
class ResourceApplyProximalAdagrad(Step):
    """A step of Adagrad, then shrinkage by l1 and l2."""

    signature = (
        "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T;"
        " use_locking: bool = False -> "
    )
    update = staticmethod(_proximal_adagrad)

    def infer(self, var: Spec, accum: Spec, grad: Spec) -> None:
        fitting(grad, var, accum)

    def kernel(self, var, accum, lr, l1, l2, grad):
        step(self, [var, accum], grad, {"lr": lr, "l1": l1, "l2": l2})


@op
class ResourceSparseApplyProximalAdagrad(RowsStep):
    """ResourceApplyProximalAdagrad for the rows named by indices."""

    signature = (
        "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T, indices: Tindices;"
        " use_locking: bool = False -> "
    )
    update = staticmethod(_proximal_adagrad)

    def kernel(self, var, accum, lr, l1, l2, grad, indices):
        step_rows(self, [var, accum], grad, indices, {"lr": lr, "l1": l1, "l2": l2})


def _dual_averaging(
    var: Any, total: Any, squares: Any, g: Any, lr: Any, l1: Any, l2: Any, steps: Any
) -> Any:
    total, squares = total + g, squares + g * g
    past = np.sign(total) * np.maximum(np.abs(total) - l1 * steps, 0) if l1 > 0 else total
    new = -lr * past / (l2 * steps * lr + np.sqrt(squares))
    return new, total, squares


@op
class ResourceApplyAdagradDA(Step):
    """Adagrad by dual averaging: the variable follows from the sums of gradients and squares."""

    signature = (
        "var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource,"
        " grad: T, lr: T, l1: T, l2: T, global_step: int64; use_locking: bool = False -> "
    )
    update = staticmethod(_dual_averaging)

    def infer(
        self, var: Spec, gradient_accumulator: Spec, gradient_squared_accumulator: Spec, grad: Spec
    ) -> None:
        fitting(grad, var, gradient_accumulator, gradient_squared_accumulator)

    def kernel(
        self, var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step
    ):
        numbers = {"lr": lr, "l1": l1, "l2": l2, "steps": grad.dtype.type(global_step)}
        slots = [var, gradient_accumulator, gradient_squared_accumulator]
        step(self, slots, grad, numbers)


@op
class ResourceSparseApplyAdagradDA(RowsStep):
    """ResourceApplyAdagradDA for the rows named by indices."""

    signature = (
        "var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource,"
        " grad: T, indices: Tindices, lr: T, l1: T, l2: T, global_step: int64;"
        " use_locking: bool = False -> "
    )
    update = staticmethod(_dual_averaging)

    def kernel(
        self,
        var,
        gradient_accumulator,
        gradient_squared_accumulator,
        grad,
        indices,
        lr,
        l1,
        l2,
        global_step,
    ):
        numbers = {"lr": lr, "l1": l1, "l2": l2, "steps": grad.dtype.type(global_step)}
        slots = [var, gradient_accumulator, gradient_squared_accumulator]
        step_rows(self, slots, grad, indices, numbers)
