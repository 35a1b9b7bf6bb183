"""StableHLO modules as programs: those that graphs have from JAX."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax._src.interpreters import mlir  # the refinement of open shapes has no public name
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func, stablehlo

from intaglio.base import errors
from intaglio.base.shapes import Dims

# What a program takes and what it returns: a shape and a dtype.
Taken = tuple[tuple[int, ...], np.dtype[Any]]
Returned = tuple[Dims, np.dtype[Any]]


def module_program(
    module: str,
    version: int,
    platforms: tuple[str, ...],
    arrays: Sequence[Any],
    Sout: Sequence[Dims],
    Tout: Sequence[Any],
) -> Callable[..., list[np.ndarray]]:
    """A module as a function of arrays that are like these. Raises as `exported_module` does."""
    taken = tuple((a.shape, a.dtype) for a in arrays)
    returned = tuple((dims, d.numpy) for dims, d in zip(Sout, Tout, strict=True))
    return _program(module, version, platforms, taken, returned)


@functools.lru_cache(maxsize=256)
def _program(
    module: str,
    version: int,
    platforms: tuple[str, ...],
    taken: tuple[Taken, ...],
    returned: tuple[Returned, ...],
) -> Callable[..., list[np.ndarray]]:
    with jax.enable_x64(True):
        run = jax.jit(exported_module(module, version, platforms, taken, returned).call)

    def call(*arrays: Any) -> list[np.ndarray]:
        with jax.enable_x64(True):
            return [np.asarray(v) for v in run(*arrays)]

    return call


def exported_module(
    module: str,
    version: int,
    platforms: tuple[str, ...],
    taken: tuple[Taken, ...],
    returned: tuple[Returned, ...],
) -> export.Exported:
    """A module for arguments of these shapes, as jax calls programs.

    Raises NotFoundError for a module that was written for other platforms than jax's own, ValueError for
    arguments whose shapes do not fit to each other.
    """
    known = tuple(p.lower() for p in platforms) or ("cpu",)
    if jax.default_backend() not in known:
        raise errors.NotFoundError(
            None,
            None,
            f"The current platform {jax.default_backend().upper()} is not among the platforms required by the "
            f"module: [{', '.join(platforms)}]",
        )
    changed: dict[str, Any] = {
        "fun_name": "module",
        "platforms": known,
        "mlir_module_serialized": module.encode("utf-8", "surrogateescape"),
        "calling_convention_version": version,
        "module_kept_var_idx": tuple(range(len(taken))),
        "uses_global_constants": True,
    }
    unshaped = dataclasses.replace(_stub(taken, ()), **changed)
    changed["mlir_module_serialized"], found = _refined(unshaped, taken)
    whole = tuple((dims, dtype) for dims, (_, dtype) in zip(found, returned, strict=True))
    return dataclasses.replace(_stub(taken, whole), **changed)


def _stub(taken: Sequence[Taken], returned: Sequence[Returned]) -> export.Exported:
    """An exported program that takes and returns arrays of these kinds."""

    def zeros(*_: Any) -> tuple[Any, ...]:
        return tuple(jnp.zeros(dims, dtype) for dims, dtype in returned)

    arguments = [jax.ShapeDtypeStruct(dims, dtype) for dims, dtype in taken]
    return export.export(jax.jit(zeros))(*arguments)


def _refined(
    exported: export.Exported, taken: Sequence[Taken]
) -> tuple[bytes, list[tuple[int, ...]]]:
    """A module for arguments of these kinds without open shapes, and the shapes that it returns."""
    with mlir.make_ir_context(), ir.Location.unknown():
        module: Any = exported.mlir_module(serialized=False)
        main = _main_of(module)
        if all(ir.RankedTensorType(a.type).has_static_shape for a in main.arguments):
            return exported.mlir_module_serialized, _dims_of(main)
        _give_shapes(module, main, taken)
        refined = mlir.refine_polymorphic_shapes(module)
        dims = _dims_of(_main_of(refined))
        with refined.context:  # serializing changes the module
            version = stablehlo.get_current_version()
            return stablehlo.serialize_portable_artifact(refined, version), dims


def _give_shapes(module: Any, inner: Any, taken: Sequence[Taken]) -> None:
    """Has a module begin with a function of arguments of these kinds, which calls the one with open shapes."""
    inner.attributes["sym_name"] = ir.StringAttr.get("inner")
    inner.attributes["sym_visibility"] = ir.StringAttr.get("private")
    wanted = [a.type for a in inner.arguments]
    # An index of the platform, which modules for several have first, has its shape.
    types = wanted[: len(wanted) - len(taken)]
    types += [ir.RankedTensorType.get(dims, mlir.dtype_to_ir_type(dtype)) for dims, dtype in taken]
    with ir.InsertionPoint(module.body):
        main = func.FuncOp("main", (types, inner.type.results), visibility="public")
    with ir.InsertionPoint(main.add_entry_block()):
        arguments = [stablehlo.convert(t, a) for t, a in zip(wanted, main.arguments, strict=True)]
        func.ReturnOp(func.CallOp(inner, arguments).results)


def _dims_of(main: Any) -> list[tuple[int, ...]]:
    """The shapes that a function returns."""
    return [tuple(ir.RankedTensorType(t).shape) for t in main.type.results]


def _main_of(module: Any) -> Any:
    """The function that a module begins with."""
    return ir.SymbolTable(module.operation)["main"]
