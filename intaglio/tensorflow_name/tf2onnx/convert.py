"""`tf2onnx.convert`: functions and Keras models as ONNX models, in memory and on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from intaglio.export import onnx
from intaglio.export.signatures import ExportError, of_keras
from intaglio.function.concrete import ConcreteFunction


def from_function(
    function: Any,
    input_signature: Sequence[Any] | None = None,
    opset: int | None = None,
    custom_ops: Any = None,
    custom_op_handlers: Any = None,
    custom_rewriter: Any = None,
    inputs_as_nchw: Any = None,
    outputs_as_nchw: Any = None,
    extra_opset: Any = None,
    shape_override: Any = None,
    target: Any = None,
    large_model: bool = False,
    output_path: str | os.PathLike[str] | None = None,
) -> tuple[Any, None]:
    """The model of a `tf.function` or ConcreteFunction, as a message; written to `output_path` if there is one.

    `input_signature` are the `tf.TensorSpec`s that the function is traced with, or structures of them. `opset` is
    from 18 on, and 21 without one. `large_model` writes large arrays to `output_path` with `.data` at its end.
    The second result of tf2onnx is the storage of arrays outside of the message, and is None here.

    Raises ValueError without a signature; ExportError, a ValueError, as `intaglio.export_onnx` does, and for
    options that change how tf2onnx converts.
    """
    _refuse(
        custom_ops=custom_ops,
        custom_op_handlers=custom_op_handlers,
        custom_rewriter=custom_rewriter,
        inputs_as_nchw=inputs_as_nchw,
        outputs_as_nchw=outputs_as_nchw,
        extra_opset=extra_opset,
        shape_override=shape_override,
        target=target,
    )
    if isinstance(function, ConcreteFunction):
        return _converted(function, opset, large_model, output_path)
    if input_signature is None:
        raise ValueError(
            "from_function needs input_signature: the tf.TensorSpecs that the function is traced with."
        )
    concrete = function.get_concrete_function(*input_signature)
    return _converted(concrete, opset, large_model, output_path)


def from_keras(
    model: Any,
    input_signature: Sequence[Any] | None = None,
    opset: int | None = None,
    custom_ops: Any = None,
    custom_op_handlers: Any = None,
    custom_rewriter: Any = None,
    inputs_as_nchw: Any = None,
    outputs_as_nchw: Any = None,
    extra_opset: Any = None,
    shape_override: Any = None,
    target: Any = None,
    large_model: bool = False,
    output_path: str | os.PathLike[str] | None = None,
) -> tuple[Any, None]:
    """The model of a Keras model as it predicts. Parameters, result and errors as of `from_function`.

    Without `input_signature`, the inputs are those that the model was built for.
    """
    _refuse(
        custom_ops=custom_ops,
        custom_op_handlers=custom_op_handlers,
        custom_rewriter=custom_rewriter,
        inputs_as_nchw=inputs_as_nchw,
        outputs_as_nchw=outputs_as_nchw,
        extra_opset=extra_opset,
        shape_override=shape_override,
        target=target,
    )
    return _converted(of_keras(model, input_signature), opset, large_model, output_path)


def _refuse(**options: Any) -> None:
    chosen = [name for name, value in options.items() if value]
    if chosen:
        raise ExportError(
            f"{chosen[0]} is an option of tf2onnx, which is not installed; Intaglio writes the model in its "
            "place and has no such option. Leave it out, or install tf2onnx."
        )


def _converted(
    function: ConcreteFunction,
    opset: int | None,
    large_model: bool,
    output_path: str | os.PathLike[str] | None,
) -> tuple[Any, None]:
    onnx.check_installed()
    model = onnx.converted(function, None, opset, None)
    if output_path is not None:
        onnx.write(model, output_path, "beside" if large_model else None)
    return model, None
