"""Tensors in JSON: the bodies of predict requests as arrays, results as bodies of responses.

Follows https://www.tensorflow.org/tfx/serving/api_rest, "Predict API", "JSON mapping" and "Encoding
binary values". Numbers are not converted silently: a value that the input's dtype has not is an error,
as it is in TensorFlow Serving.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import importlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from intaglio.base import dtypes, errors
from intaglio.base.dtypes import DType
from intaglio.serve.statuses import invalid

# A part of the extra `serve` that has no wheels everywhere.
orjson: Any = None
with contextlib.suppress(ImportError):
    orjson = importlib.import_module("orjson")
BASE64_KEY = "b64"
# Outputs with this suffix are bytes, not text.
BYTES_SUFFIX = "_bytes"
# So much of a wrong value is shown in an error.
MAX_SHOWN = 200
# Integers from here on are decimal numbers to a reader of JSON with integers of 64 bits.
_UINT64_END = 1 << 64
# The dtypes of arrays that orjson writes with the same numbers: of float16 it writes the digits of a float32.
_WRITTEN_BY_ORJSON = frozenset("bBhHiIlLqQfd?")
_JSON_NAMES = {
    type(None): "Null",
    dict: "Object",
    list: "Array",
    str: "String",
    int: "Number",
    float: "Number",
}


class Request(NamedTuple):
    """A predict request: the arrays of the inputs by name, and whether rows were sent."""

    arrays: dict[str, np.ndarray]
    by_row: bool


def parsed(body: bytes) -> dict[str, Any]:
    """The object that a body is. Raises InvalidArgumentError for what is no JSON, or no object.

    `NaN`, `Infinity` and `-Infinity` are numbers.
    """
    if not body:
        raise invalid("JSON Parse error: The document is empty")
    found = _quickly_parsed(body)
    try:
        found = json.loads(body) if found is None else found
    except ValueError as e:  # also of bytes that are no UTF-8, and of numbers of many digits
        raise invalid(f"JSON Parse error: {e}") from None
    except RecursionError:
        raise invalid("JSON Parse error: the value is nested too deeply") from None
    if not isinstance(found, dict):
        raise invalid(f"JSON Value: {_shown(found)} Is not object")
    return found


def _quickly_parsed(body: bytes) -> Any:
    """What orjson makes of a body; None without it, and for what only Python's `json` takes or explains: `NaN`,
    infinities, UTF-16, deep nesting."""
    if orjson is None:
        return None
    try:
        return orjson.loads(body)
    except ValueError:
        return None


def signature_name(request: Mapping[str, Any], default: str) -> str:
    """The signature that a request names, or the default one. Raises InvalidArgumentError."""
    found = request.get("signature_name", default)
    if not isinstance(found, str):
        raise invalid(
            f"JSON Value: {_shown(request)} not formatted correctly. 'signature_name' key must be a "
            "string value."
        )
    return found or default


def inputs(request: Mapping[str, Any], wanted: Mapping[str, DType]) -> Request:
    """The arrays of a predict request for inputs of these names and dtypes.

    Raises InvalidArgumentError for what is no tensor of the dtype, UnimplementedError for dtypes that
    JSON has no form for.
    """
    if ("instances" in request) == ("inputs" in request):
        if "instances" not in request:
            raise invalid("Missing 'inputs' or 'instances' key")
        raise invalid(
            f"JSON Value: {_shown(request)} Not formatted correctly expecting only one of 'inputs' or "
            "'instances' keys to exist"
        )
    if "instances" in request:
        return Request(_rows(request["instances"], wanted), True)
    return Request(_columns(request["inputs"], wanted), False)


def _rows(instances: Any, wanted: Mapping[str, DType]) -> dict[str, np.ndarray]:
    if not isinstance(instances, list):
        raise invalid(f"JSON Value: {_shown(instances)} Expecting 'instances' to be an list/array")
    if not instances:
        raise invalid("JSON Value: [] No values in 'instances' array")
    if not _is_named(instances[0]):
        if len(wanted) != 1:
            raise invalid(
                "instances is a plain list, but expecting list of objects as multiple input tensors "
                f"required: {', '.join(sorted(wanted))}"
            )
        ((name, dtype),) = wanted.items()
        for number, one in enumerate(instances):
            if _is_named(one):
                raise invalid(f"Expecting value/list but got object at item {number} of input list")
        return {name: _stacked(instances, dtype, "")}
    for number, one in enumerate(instances):
        if not _is_named(one):
            raise invalid(f"Expecting object but got list at item {number} of input list")
        if one.keys() != wanted.keys():
            raise invalid(
                f"Failed to process element: {number} of 'instances' list. JSON object: {_shown(one)} "
                f"keys must be equal to: {','.join(sorted(wanted))}"
            )
    return {
        name: _stacked([one[name] for one in instances], dtype, f" key: {name}")
        for name, dtype in wanted.items()
    }


def _stacked(values: list[Any], dtype: DType, key: str) -> np.ndarray:
    """The rows as one array; an error names the row."""
    try:
        return array(values, dtype)
    except errors.InvalidArgumentError:
        first = None
        for number, value in enumerate(values):
            prefix = f"Failed to process element: {number}{key} of 'instances' list. Error: "
            try:
                shape = array(value, dtype).shape
            except errors.InvalidArgumentError as e:
                raise invalid(prefix + e.message) from None
            first = shape if first is None else first
            if shape != first:
                raise invalid(f"{prefix}Expecting shape {[*first]} but got: {[*shape]}") from None
        raise


def _columns(value: Any, wanted: Mapping[str, DType]) -> dict[str, np.ndarray]:
    if not _is_named(value):
        if len(wanted) != 1:
            raise invalid(
                "inputs is a plain value/list, but expecting an object as multiple input tensors "
                f"required: {', '.join(sorted(wanted))}"
            )
        ((name, dtype),) = wanted.items()
        return {name: array(value, dtype)}
    for name in wanted:
        if name not in value:
            raise invalid(f"Missing named input: {name} in 'inputs' object.")
    for name in value:
        if name not in wanted:
            raise invalid(
                f"'inputs' has {name!r}; the signature's inputs are {', '.join(sorted(wanted))}"
            )
    return {name: array(value[name], dtype) for name, dtype in wanted.items()}


def _is_named(value: Any) -> bool:
    """Whether a value is an object of tensors by name, and not bytes."""
    return isinstance(value, dict) and not is_base64(value)


def is_base64(value: Any) -> bool:
    """Whether a value is bytes: an object of nothing but text at the key `b64`."""
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get(BASE64_KEY), str)


# -- one tensor ----------------------------------------------------------------------------------


def array(value: Any, dtype: DType) -> np.ndarray:
    """A nested list, or a single value, as an array of a dtype. Raises InvalidArgumentError."""
    shape: list[int] = []
    leaves: list[Any] = [value]
    # Level by level: every list has as many elements as the first one of its level.
    while leaves and isinstance(leaves[0], list):
        size = len(leaves[0])
        if set(map(type, leaves)) != {list}:
            wrong = next(v for v in leaves if not isinstance(v, list))
            raise invalid(
                f"JSON Value: {_shown(wrong)} found at incorrect level: {len(shape) + 1} in the "
                "JSON DOM. A list is expected there"
            )
        if set(map(len, leaves)) != {size}:
            other = next(len(v) for v in leaves if len(v) != size)
            raise invalid(
                f"Encountered list at unexpected size: {other} at level: {len(shape)} expected "
                f"size: {size}"
            )
        shape.append(size)
        leaves = list(itertools.chain.from_iterable(leaves))
    if list in set(map(type, leaves)):
        raise invalid(f"Encountered list at unexpected level: {len(shape)} expected < {len(shape)}")
    return _flat(leaves, dtype).reshape(shape)


def _flat(values: list[Any], dtype: DType) -> np.ndarray:
    if dtype is dtypes.string:
        found = np.empty([len(values)], object)
        found[:] = [_bytes(v) for v in values]
        return found
    kinds = set(map(type, values))
    if dtype.is_bool:
        _check(values, kinds <= {bool}, bool, dtype)
        return np.array(values, np.bool_)
    if dtype in dtypes.INTEGRAL:
        _check(values, kinds <= {int}, int, dtype)
        low, high = dtype.limits
        if values and not low <= min(values) <= max(values) <= high:
            wrong = next(v for v in values if not low <= v <= high)
            raise _type_error(wrong, dtype)
        return np.array(values, dtype.numpy)
    if dtype in dtypes.FLOATING:
        _check(values, kinds <= {int, float}, (int, float), dtype)
        if int in kinds:
            _check_digits(values, dtype)
        try:
            return _rounded(np.array(values, np.float64), dtype)
        except OverflowError:
            raise _loss(max(values, key=abs), dtype) from None
    raise errors.UnimplementedError(
        None, None, f"Conversion of JSON Values to type: {dtype.name} is not possible."
    )


def _check(values: list[Any], fine: bool, kind: Any, dtype: DType) -> None:
    """Raises InvalidArgumentError for the first value that is of no such kind, unless all are."""
    if not fine:
        wrong = next(
            v for v in values if not isinstance(v, kind) or isinstance(v, bool) != (kind is bool)
        )
        raise _type_error(wrong, dtype)


def _type_error(value: Any, dtype: DType) -> errors.OpError:
    if isinstance(value, bool):
        kind = str(value)
    else:
        kind = _JSON_NAMES[type(value)]
    return invalid(
        f"JSON Value: {_shown(value)} Type: {kind} is not of expected type: {dtype.name}"
    )


def _check_digits(values: list[Any], dtype: DType) -> None:
    """Raises InvalidArgumentError for an integer of more digits than numbers of the dtype have."""
    end = 1 << (ml_dtypes.finfo(dtype.numpy).nmant + 1)
    for value in values:
        if type(value) is int and end <= abs(value) < _UINT64_END:
            raise _loss(value, dtype)


def _rounded(values: np.ndarray, dtype: DType) -> np.ndarray:
    """The nearest numbers of a dtype; finite ones have to stay finite."""
    with np.errstate(over="ignore"):
        found = values.astype(dtype.numpy)
    if np.isfinite(found).all():
        return found
    lost = np.isfinite(values) & ~np.isfinite(found.astype(np.float64))
    if lost.any():
        raise _loss(float(values[lost][0]), dtype)
    return found


def _loss(value: Any, dtype: DType) -> errors.OpError:
    return invalid(
        f"Cannot convert JSON value: {_shown(value)} to {dtype.name} without loss of precision."
    )


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return _encoded(value)
    if isinstance(value, dict):
        return decoded_base64(value)
    raise _type_error(value, dtypes.string)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # one half of a surrogate pair, written as an escape
        raise invalid(f"JSON Value: {_shown(text)} is no Unicode text") from None


def decoded_base64(value: Mapping[str, Any]) -> bytes:
    """The bytes of an object `{"b64": text}`. Raises InvalidArgumentError."""
    if not is_base64(value):
        raise invalid(f"JSON Value: {_shown(value)} not formatted correctly for base64 data")
    try:
        return base64.b64decode(_encoded(value[BASE64_KEY]), validate=True)
    except binascii.Error:
        raise invalid("Unable to base64 decode") from None


def text_bytes(text: str) -> bytes:
    """Text as the bytes of a string tensor. Raises InvalidArgumentError for half characters."""
    return _encoded(text)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


# -- responses -----------------------------------------------------------------------------------


def response(outputs: Mapping[str, np.ndarray], by_row: bool) -> bytes:
    """The body of a predict response: `predictions` row by row, or `outputs` tensor by tensor.

    Raises InvalidArgumentError if rows are wanted of outputs with different first dimensions,
    UnimplementedError for dtypes that JSON has no form for.
    """
    if not outputs:
        raise invalid("Cannot convert empty tensor map to JSON")
    names = sorted(outputs)
    if not by_row:
        texts = [_text(n, outputs[n]) for n in names]
        return f'{{"outputs": {_joined_object(names, texts)}}}'.encode()
    sizes = {name: outputs[name].shape[:1] for name in names}
    for name, size in sizes.items():
        if not size:
            raise invalid(f"Tensor name: {name} has no shape information, so no rows")
        if size != sizes[names[0]]:
            raise invalid(
                f"Tensor name: {name} has inconsistent batch size: {size[0]} expecting: "
                f"{sizes[names[0]][0]}"
            )
    if len(names) == 1:
        return f'{{"predictions": {_text(names[0], outputs[names[0]])}}}'.encode()
    columns = [_elements(n, outputs[n], 1) for n in names]
    rows = [_joined_object(names, texts) for texts in zip(*columns, strict=True)]
    return f'{{"predictions": [{", ".join(rows)}]}}'.encode()


def _joined_object(names: Sequence[str], texts: Iterable[str]) -> str:
    """One tensor as it is; several as an object by name."""
    if len(names) == 1:
        return next(iter(texts))
    pairs = [f"{json.dumps(n)}: {t}" for n, t in zip(names, texts, strict=True)]
    return f"{{{', '.join(pairs)}}}"


def _has_quick_text(tensor: np.ndarray) -> bool:
    """Whether orjson writes a tensor with the numbers that `_elements` writes."""
    if not tensor.ndim or tensor.dtype.char not in _WRITTEN_BY_ORJSON:
        return False
    return tensor.dtype.kind != "f" or bool(np.isfinite(tensor).all())


def _text(name: str, tensor: np.ndarray) -> str:
    if orjson is not None and _has_quick_text(tensor):
        found = orjson.dumps(np.ascontiguousarray(tensor), option=orjson.OPT_SERIALIZE_NUMPY)
        return found.decode().replace(",", ", ")
    return _elements(name, tensor, 0)[0]


def _elements(name: str, tensor: np.ndarray, axes: int) -> list[str]:
    """The texts of the tensor's elements along its first axes, in the order of C."""
    texts = _scalars(name, tensor)
    for axis in range(tensor.ndim - 1, axes - 1, -1):
        size = tensor.shape[axis]
        count = int(np.prod(tensor.shape[:axis]))
        texts = [f"[{', '.join(texts[i * size : (i + 1) * size])}]" for i in range(count)]
    return texts


def _scalars(name: str, tensor: np.ndarray) -> list[str]:
    flat = tensor.reshape(-1)
    kind = tensor.dtype.kind
    if kind == "O":
        as_bytes = name.endswith(BYTES_SUFFIX)
        return [base64_text(v) if as_bytes else json_text(v, name) for v in flat]
    if kind == "b":
        return ["true" if v else "false" for v in flat.tolist()]
    if kind in "iu":
        return list(map(str, flat.tolist()))
    if dtypes.from_numpy(tensor.dtype) in dtypes.FLOATING:
        return decimals(flat)
    raise errors.UnimplementedError(
        None,
        None,
        f"Failed to write JSON value of output {name!r} for tensor type: "
        f"{dtypes.from_numpy(tensor.dtype).name}",
    )


def decimals(flat: np.ndarray) -> list[str]:
    """Floating-point numbers with the fewest digits that give the same number of their dtype."""
    if flat.dtype.kind != "f":  # a type of ml_dtypes, whose texts are no decimal numbers of JSON
        flat = flat.astype(np.float32)
    if np.isfinite(flat).all():
        return list(map(str, flat.tolist() if flat.dtype == np.float64 else flat))
    return [_decimal(v) for v in flat]


def _decimal(value: Any) -> str:
    if np.isfinite(value):
        return str(value)
    return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def base64_text(value: bytes) -> str:
    """Bytes as an object with the key `b64`."""
    return f'{{"{BASE64_KEY}": "{base64.b64encode(value).decode()}"}}'


def json_text(value: bytes, name: str) -> str:
    """Bytes that are text as a string of JSON. Raises InvalidArgumentError for other bytes."""
    try:
        return json.dumps(value.decode())
    except UnicodeDecodeError:
        raise invalid(
            f"output {name!r} has bytes that are no UTF-8 text. Name it with the suffix "
            f"{BYTES_SUFFIX!r}: then it is encoded as base64."
        ) from None
