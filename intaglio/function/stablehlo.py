"""The XLA program of a traced function: its intermediate forms, and as a file for other programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio import xla
from intaglio.base import nest, shapes
from intaglio.function.concrete import ConcreteFunction
from intaglio.opdef import convert
from intaglio.optimize.pipeline import optimize
from intaglio.runtime.eager import from_array
from intaglio.type_specs.type_spec import TensorSpec

PLATFORMS = ("CPU", "GPU", "TPU")


def _arrays(trace: ConcreteFunction, args: Any, kwargs: Any) -> list[Any]:
    """The arrays of a call's arguments; zeros for specs. Raises ValueError for open shapes."""
    arguments = trace.inputs[: len(trace.inputs) - len(trace.captured_inputs)]
    open_shapes = [v for v in arguments if not shapes.known(v.dims)]
    flat = nest.flatten((args, kwargs), expand_composites=True)
    if any(isinstance(v, TensorSpec) for v in flat):
        if open_shapes:
            raise ValueError(f"Only support static input shape but got inputs = {open_shapes}")
        return [np.zeros([d or 0 for d in v.dims or ()], v.dtype.numpy) for v in arguments]
    return [t._array for t in trace.flat_arguments(args, kwargs)]  # type: ignore[attr-defined]  # they are eager


def compiler_ir(trace: ConcreteFunction, args: Any, kwargs: Any) -> Callable[..., str | bytes]:
    """The function `get(stage)` that `experimental_get_compiler_ir` returns."""
    if not trace.jit_compile:
        raise ValueError(
            "Compiler IR can only be returned for functions marked with 'jit_compile=True'"
        )
    xla.check_installed()
    arrays = [*_arrays(trace, args, kwargs), *trace.capture_arrays]

    def get(
        stage: str = "hlo", device_name: str | None = None, platform_name: str | None = None
    ) -> str | bytes:
        """The program at a stage, a text or bytes. Raises ValueError for another stage or platform."""
        if stage not in xla.STAGES:
            names = ", ".join(map(repr, xla.STAGES))
            raise ValueError(f"Invalid stage selected: {stage!r}. Valid values are: {names}")
        if platform_name is not None and platform_name.upper() not in PLATFORMS:
            raise ValueError(f"No matching platform found for {platform_name!r}")
        return xla.text(optimize(trace.frozen), arrays, stage)

    return get


def export_stablehlo(function: Any, *args: Any, **kwargs: Any) -> bytes:
    """A traced function as a StableHLO program that plain JAX and other runtimes load.

    `function` is a `tf.function`; `args` are tensors, arrays or `tf.TensorSpec`s of static shape. The
    bytes are those of `jax.export`: `jax.export.deserialize(data).call(*arrays)` gives a tuple of the flat
    outputs, `intaglio.load_stablehlo` a function of tensors. Variables are part of the program, with
    their present values.

    Raises ImportError without jax, ValueError for a function that has no XLA program, writes variables or
    draws random numbers from a state.
    """
    xla.check_installed()
    trace = function.get_concrete_function(*args, **kwargs)
    arrays = _arrays(trace, args, kwargs)
    captured = trace.capture_arrays
    return xla.exported(optimize(trace.frozen), [*arrays, *captured], len(arrays))


def load_stablehlo(data: bytes) -> Callable[..., Sequence[Any]]:
    """A program of `export_stablehlo`, or of `jax.export`, as a function of tensors that returns a list.

    Raises ImportError without jax.
    """
    xla.check_installed()
    run = xla.loaded(data)

    def call(*tensors: Any) -> list[Any]:
        arrays = [np.asarray(convert.to_tensor(t)) for t in tensors]
        return [from_array(a) for a in run(*arrays)]

    return call
