"""Tensors in JSON, both ways: every dtype, nesting, bytes, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from intaglio.base import dtypes, errors
from intaglio.serve import json_tensors


@pytest.fixture(params=["json", "orjson"], autouse=True)
def _library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test reads and writes by Python's `json`, and by orjson where it is installed."""
    if request.param == "json":
        monkeypatch.setattr(json_tensors, "orjson", None)
    else:
        pytest.importorskip("orjson")


def _read(text: str, **wanted: dtypes.DType) -> Any:
    return json_tensors.inputs(json_tensors.parsed(text.encode()), wanted)


def test_rows_of_one_input_are_stacked() -> None:
    found = _read('{"instances": [[[1, 2]], [[3, 4.5]]]}', x=dtypes.float32)
    assert found.by_row
    assert found.arrays["x"].dtype == np.float32
    np.testing.assert_array_equal(found.arrays["x"], [[[1, 2]], [[3, 4.5]]])
    assert _read('{"instances": [1, 2]}', x=dtypes.int8).arrays["x"].shape == (2,)
    named = _read('{"instances": [{"x": [1]}, {"x": [2]}]}', x=dtypes.int8)
    np.testing.assert_array_equal(named.arrays["x"], [[1], [2]])


def test_rows_of_several_inputs() -> None:
    text = (
        '{"instances": [{"tag": "foo", "signal": [1, 2], "flag": true},'
        ' {"tag": {"b64": "AP8="}, "signal": [3, 4], "flag": false}]}'
    )
    found = _read(text, tag=dtypes.string, signal=dtypes.int64, flag=dtypes.bool_).arrays
    assert found["tag"].tolist() == [b"foo", b"\x00\xff"]
    assert found["signal"].tolist() == [[1, 2], [3, 4]]
    assert found["flag"].tolist() == [True, False]


def test_columns_may_have_other_first_dimensions() -> None:
    found = _read('{"inputs": {"a": [[1, 2]], "b": 7}}', a=dtypes.uint8, b=dtypes.float64)
    assert not found.by_row
    assert found.arrays["a"].shape == (1, 2) and found.arrays["b"].shape == ()
    assert _read('{"inputs": "ä"}', s=dtypes.string).arrays["s"].item() == "ä".encode()
    assert _read('{"inputs": {"b64": "YQ=="}}', s=dtypes.string).arrays["s"].item() == b"a"
    assert _read('{"inputs": [[], []]}', x=dtypes.float32).arrays["x"].shape == (2, 0)
    assert _read('{"inputs": {}}').arrays == {}


@pytest.mark.parametrize("dtype", [*dtypes.REAL, dtypes.bool_], ids=lambda d: d.name)
def test_every_dtype_returns_as_it_was_sent(dtype: dtypes.DType) -> None:
    if dtype.is_floating:
        numbers = [0.0, -0.0, 1.5, 0.1, 1e-30, -3.25e4, float("inf"), float("-inf")]
        values = np.array(numbers, np.float64).astype(dtype.numpy)
    elif dtype.is_bool:
        values = np.array([True, False])
    else:
        values = np.array([*dtype.limits, 0, 1], dtype.numpy)
    body = json_tensors.response({"x": values.reshape(2, -1)}, by_row=False)
    again = json.loads(body)["outputs"]
    found = json_tensors.array(again, dtype)
    assert found.dtype == dtype.numpy and found.shape == (2, values.size // 2)
    np.testing.assert_array_equal(found.reshape(-1).view(np.uint8), values.view(np.uint8))


def test_numbers_have_the_fewest_digits() -> None:
    x = np.array([0.2, 1.0, 1e-5, 1e30], np.float32)
    small = b"1e-05" if json_tensors.orjson is None else b"0.00001"
    assert (
        json_tensors.response({"x": x}, True) == b'{"predictions": [0.2, 1.0, %b, 1e+30]}' % small
    )
    half = np.array([0.2, np.nan], ml_dtypes.bfloat16)
    assert json_tensors.response({"x": half}, False) == b'{"outputs": [0.20019531, NaN]}'


@pytest.mark.parametrize(
    ("text", "dtype", "message"),
    [
        (
            "[1, true]",
            dtypes.float32,
            "element: 1 of 'instances' list. Error: JSON Value: true Type: True",
        ),
        ('["1"]', dtypes.float32, 'JSON Value: "1" Type: String is not of expected type: float32'),
        ("[null]", dtypes.int32, "Type: Null"),
        ("[1.0]", dtypes.int32, "Type: Number is not of expected type: int32"),
        ("[1, true]", dtypes.int32, "Type: True"),
        ("[0]", dtypes.bool_, "Type: Number is not of expected type: bool"),
        ("[300]", dtypes.uint8, "not of expected type: uint8"),
        ("[-1]", dtypes.uint64, "not of expected type: uint64"),
        ("[9223372036854775808]", dtypes.int64, "not of expected type: int64"),
        ("[1]", dtypes.string, "Type: Number is not of expected type: string"),
        ('[{"b64": "?"}]', dtypes.string, "Unable to base64 decode"),
        ('["\\ud800"]', dtypes.string, "no Unicode text"),
        ("[16777217]", dtypes.float32, "16777217 to float32 without loss of precision"),
        ("[4e38]", dtypes.float32, "to float32 without loss of precision"),
        ("[70000.0]", dtypes.float16, "to float16 without loss of precision"),
        (f"[1{'0' * 400}]", dtypes.float64, "to float64 without loss of precision"),
        (
            "[[1, 2], [3]]",
            dtypes.float32,
            "element: 1 of 'instances' list. Error: Expecting shape [2]",
        ),
        ("[[1], 2]", dtypes.float32, "Expecting shape [1] but got: []"),
        ("[1, [2]]", dtypes.float32, "Expecting shape [] but got: [1]"),
        ("[[[1], 2]]", dtypes.float32, "incorrect level"),
        ("[]", dtypes.float32, "No values in 'instances'"),
        ("3", dtypes.float32, "to be an list/array"),
        ('[1, {"x": 1}]', dtypes.float32, "got object at item 1"),
        ('[{"x": 1}, 1]', dtypes.float32, "got list at item 1"),
        ('[{"y": 1}]', dtypes.float32, "keys must be equal to: x"),
    ],
)
def test_wrong_rows(text: str, dtype: dtypes.DType, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as found:
        _read(f'{{"instances": {text}}}', x=dtype)
    assert message in found.value.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "The document is empty"),
        (b"{", "JSON Parse error"),
        (b"\xff", "JSON Parse error"),
        (b"[" * 200_000, "JSON Parse error"),
        (b'{"inputs": ' + b"9" * 5000 + b"}", "JSON Parse error"),
        (b"[1]", "Is not object"),
        (b"{}", "Missing 'inputs' or 'instances' key"),
        (b'{"inputs": 1, "instances": [1]}', "only one of"),
        (b'{"inputs": {"y": 1}}', "Missing named input: x"),
        (b'{"inputs": {"x": 1, "y": 1}}', "has 'y'"),
        (b'{"inputs": [[1], [2, 3]]}', "unexpected size: 2 at level: 1 expected size: 1"),
    ],
)
def test_wrong_bodies(body: bytes, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as found:
        json_tensors.inputs(json_tensors.parsed(body), {"x": dtypes.float32})
    assert message in found.value.message


def test_names_of_signatures_are_text() -> None:
    assert json_tensors.signature_name({}, "d") == "d"
    assert json_tensors.signature_name({"signature_name": ""}, "d") == "d"
    with pytest.raises(errors.InvalidArgumentError, match="must be a string"):
        json_tensors.signature_name({"signature_name": 3}, "d")


def test_several_outputs_are_objects() -> None:
    words = np.array([b"a", b"\xff"], object)
    outputs = {"w_bytes": words, "n": np.array([[1], [2]])}
    body = json.loads(json_tensors.response(outputs, True))
    assert body == {
        "predictions": [
            {"n": [1], "w_bytes": {"b64": "YQ=="}},
            {"n": [2], "w_bytes": {"b64": "/w=="}},
        ]
    }
    body = json.loads(json_tensors.response(outputs, False))
    assert body == {"outputs": {"n": [[1], [2]], "w_bytes": [{"b64": "YQ=="}, {"b64": "/w=="}]}}


def test_outputs_without_a_form_in_json() -> None:
    for outputs, message in (
        ({"x": np.array([b"\xff"], object)}, "suffix '_bytes'"),
        ({"x": np.float32(1).reshape(()), "y": np.ones(2)}, "no shape information"),
        ({"x": np.ones(3), "y": np.ones(2)}, "inconsistent batch size: 2 expecting: 3"),
        ({}, "empty tensor map"),
    ):
        with pytest.raises(errors.InvalidArgumentError) as found:
            json_tensors.response({k: np.asarray(v) for k, v in outputs.items()}, True)
        assert message in found.value.message
    with pytest.raises(errors.UnimplementedError, match="complex64"):
        json_tensors.response({"x": np.ones(1, np.complex64)}, True)
    with pytest.raises(errors.UnimplementedError, match="complex64"):
        json_tensors.array([1], dtypes.complex64)
