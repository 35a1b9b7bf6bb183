"""Signatures: functions with named tensors in and out, as serving calls them.

Follows https://www.tensorflow.org/guide/saved_model, "Specifying signatures during export".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from intaglio.base.composite import CompositeTensor
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.options import Options
from intaglio.function.polymorphic import Function
from intaglio.opdef import convert
from intaglio.opdef.tensor import Tensor
from intaglio.saved_model import names, object_graph
from intaglio.saved_model.restored import SignatureMap
from intaglio.state import one_device
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec


def of_model(
    root: Any, signatures: Any, children: Callable[[Any], Mapping[str, Any]]
) -> SignatureMap:
    """The signatures to save: those given, or else the function that the root names, or its only one.

    `children` returns what of the root is saved, by name.

    Raises ValueError for what is no function with a signature, or whose results have no
    names.
    """
    if signatures is None:
        found = _default(root, children)
        wrapped = (
            {names.DEFAULT_SIGNATURE: _wrapped(found, names.DEFAULT_SIGNATURE)}
            if found is not None
            else {}
        )
        return SignatureMap(wrapped)
    if isinstance(signatures, SignatureMap) or not isinstance(signatures, Mapping):
        signatures = (
            signatures if isinstance(signatures, Mapping) else {names.DEFAULT_SIGNATURE: signatures}
        )
    for key in signatures:
        if key == names.INIT_SIGNATURE:
            raise KeyError(
                f"The signature name {key!r} is reserved for initialization; choose another name."
            )
        if not isinstance(key, str):
            raise ValueError(f"The names of signatures must be strings, got {key!r}.")
    return SignatureMap({k: _wrapped(_concrete(f), k) for k, f in signatures.items()})


def _default(root: Any, children: Callable[[Any], Mapping[str, Any]]) -> ConcreteFunction | None:
    """The function that the root names, or its only one that can be a signature."""
    try:
        named = getattr(root, "_default_save_signature", None)  # Keras' models
    except Exception:  # a property of a model that has not been built, in TensorFlow too
        named = None
    if isinstance(named, Function) and named.input_signature is not None:
        return _concrete(named)
    found = {**children(root), **object_graph.functions_of(root)}
    if isinstance(named := found.get("_default_save_signature"), ConcreteFunction | Function):
        return _concrete(named)
    concrete: dict[int, ConcreteFunction] = {}
    for function in found.values():
        if isinstance(function, Function) and function.input_signature is not None:
            function = _concrete(function)
        if isinstance(function, ConcreteFunction) and _valid(function):
            concrete[id(function)] = function
    return next(iter(concrete.values())) if len(concrete) == 1 else None


def _concrete(function: Any) -> ConcreteFunction:
    if isinstance(function, ConcreteFunction):
        return function
    if isinstance(function, Function) and function.input_signature is not None:
        return of_one_device(function, function.get_concrete_function())
    raise ValueError(
        f"Expected a TensorFlow function for which to generate a signature, but got {function}. Only `tf.functions` with "
        "an input signature or concrete functions can be used as a signature."
    )


def of_one_device(function: Function, trace: ConcreteFunction) -> ConcreteFunction:
    """The trace, or one for a single device if the variables of the trace have copies on several."""
    if not any(getattr(v, "_distributed_container", None) for v in trace.graph.variables):
        return trace
    has_signature = function.input_signature is not None
    args, kwargs = ((), {}) if has_signature else trace.structured_input_signature
    with one_device.tracing():
        return function.fresh().get_concrete_function(*args, **kwargs)


def _valid(function: ConcreteFunction) -> bool:
    try:
        _named_results(function.structured_outputs, function, "")
    except ValueError:
        return False
    return True


def argument_names(function: ConcreteFunction) -> list[str]:
    """The names of the tensor arguments, as the user specified them, each once."""
    inputs = function.inputs[: len(function.arg_keywords)]
    found: list[str] = []
    for value, keyword in zip(inputs, function.arg_keywords, strict=True):
        name = value.node.attrs.get("_user_specified_name") or keyword
        if isinstance(name, bytes):
            name = name.decode()
        name = re.sub(r"\W", "_", name)
        found.append(name if name not in found else keyword)
    return found


def _wrapped(function: ConcreteFunction, key: str) -> ConcreteFunction:
    """A trace that takes its tensors by keyword and returns a dict of them."""
    keywords = argument_names(function)
    inputs = function.inputs[: len(keywords)]
    specs = {
        name: TensorSpec(value.dims, value.dtype, name)
        for name, value in zip(keywords, inputs, strict=True)
    }

    def signature_wrapper(**kwargs: Any) -> Any:
        tensors = [kwargs[name] for name in keywords]
        result = function.pack(function.call_flat(tensors))
        return _named_results(result, function, key)

    options = Options(autograph=False)
    wrapper = Function(signature_wrapper, "signature_wrapper", options)
    return wrapper.get_concrete_function(**specs)


def _named_results(result: Any, function: ConcreteFunction, key: str) -> dict[str, Any]:
    source = f"of the function {function.name.decode()} used to generate the SavedModel signature '{key}'"
    if isinstance(result, Mapping):
        named = dict(result)
        odd = [k for k in named if not isinstance(k, str)]
        if odd:
            raise ValueError(
                f"Got a dictionary with a non-string key {odd[0]!r} in the output {source}."
            )
    elif isinstance(result, (list, tuple)):
        named = {f"output_{i}": v for i, v in enumerate(result)}
    else:
        named = {"output_0": result}
    for name, value in named.items():
        if hasattr(type(value), "__tf_tensor__"):  # one tensor, such as a weak one
            named[name] = value = convert.to_tensor(value)
        if not isinstance(value, (Tensor, TypeSpec, CompositeTensor)):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key {name!r} in the output {source}. Outputs for functions used as "
                "signatures must be a single Tensor, a sequence of Tensors, or a dictionary from string to Tensor."
            )
    return named
