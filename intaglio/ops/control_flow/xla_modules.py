"""Calls of StableHLO modules, which is what functions of JAX are in graphs.

`jax2tf` writes such calls, and with it Keras' JaxLayer and models of JAX that are saved for TensorFlow;
https://docs.jax.dev/en/latest/export/export.html describes the modules.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import errors
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.hooks import HOOKS

# The calling conventions of modules that there are programs for.
MIN_VERSION, MAX_VERSION = 5, 10


@op
class XlaCallModule(Op):
    """The results of a StableHLO module's `main`; `Sout` and `Tout` are their shapes and dtypes.

    `module` is a portable artifact, its bytes as text. `version` is its calling convention, and `platforms`
    are those that it was written for, all if there are none.
    """

    signature = (
        "args: *Tin; version: int, module: str, Sout: list(shape), Tout: list(type),"
        " dim_args_spec: list(str) = [], platforms: list(str) = [], function_list: list(func) = [],"
        " has_token_input_output: bool = False, disabled_checks: list(str) = [],"
        " use_shardy_partitioner: bool = False -> output: *Tout"
    )
    stateful = True
    droppable = True

    def infer(self, Sout, Tout) -> Any:
        return [[Spec(dtype, dims) for dtype, dims in zip(Tout, Sout, strict=True)]]

    def kernel(self, args, version, module, Sout, Tout, platforms, function_list) -> Any:
        check_call(version, function_list)
        run = HOOKS.module_program(module, version, tuple(platforms), args, Sout, Tout)
        return run(*args)


def check_call(version: int, function_list: Any) -> None:
    """Raises UnimplementedError for a calling convention or functions that there is no program for."""
    if not MIN_VERSION <= version <= MAX_VERSION:
        raise errors.UnimplementedError(
            None,
            None,
            f"XlaCallModuleOp with version {version} is not supported: those from {MIN_VERSION} to "
            f"{MAX_VERSION} are.",
        )
    if function_list:
        raise errors.UnimplementedError(
            None,
            None,
            "a module that calls functions of the graph (jax2tf.call_tf) is not supported",
        )
