"""Offsets and addresses are those of live objects, and nothing is assumed where they are not."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from intaglio import cpython
from intaglio.cpython import layout
from intaglio.cpython.portable import PORTABLE

needs_layout = pytest.mark.skipif(not cpython.AVAILABLE, reason="objects have another layout")


def word(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def test_the_layout_is_available_unless_the_build_is_portable() -> None:
    assert cpython.AVAILABLE is not PORTABLE


def test_the_variable_of_the_environment_selects_the_portable_code() -> None:
    code = (
        "from intaglio import cpython; x = []; print(cpython.AVAILABLE, cpython.is_sole_owner(x))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(os.environ, INTAGLIO_PORTABLE="1"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["False", "False"]


@needs_layout
@pytest.mark.parametrize("value", [1.5, (1, 2), [], {}, b"text", None, np.zeros(3), object()])
def test_the_type_of_an_object_is_found_at_its_offset(value: object) -> None:
    address = layout.address_of(value)
    assert word(address + layout.TYPE) == layout.address_of(type(value))


@needs_layout
@pytest.mark.parametrize("shape", [(), (4,), (2, 0, 3), (2,) * 7])
@pytest.mark.parametrize("dtype", ["f4", "i8", "?", "O"])
def test_the_fields_of_arrays_are_found(shape: tuple[int, ...], dtype: str) -> None:
    array = np.zeros(shape, dtype)
    address = layout.address_of(array)
    lengths = word(address + layout.ARRAY_LENGTHS)
    assert word(address + layout.ARRAY_DATA) == array.ctypes.data
    assert ctypes.c_int32.from_address(address + layout.ARRAY_RANK).value == len(shape)
    assert tuple([word(lengths + 8 * i) for i in range(len(shape))]) == shape
    assert word(address + layout.ARRAY_DTYPE) == layout.address_of(array.dtype)


def in_order(array: np.ndarray) -> bool:
    flags = ctypes.c_int32.from_address(layout.address_of(array) + layout.ARRAY_FLAGS).value
    return flags & layout.ARRAY_IN_ORDER == layout.ARRAY_IN_ORDER


@needs_layout
def test_contiguous_arrays_are_recognised() -> None:
    whole = np.zeros((4, 6))
    assert in_order(whole) and in_order(whole[1:3])
    assert not in_order(whole.T) and not in_order(whole[:, 1:3])
    assert not in_order(np.zeros(17, np.uint8)[1:].view(np.float64))


@needs_layout
@pytest.mark.parametrize("text", [b"", b"x", bytes(range(256))])
def test_the_bytes_of_a_text_are_found(text: bytes) -> None:
    assert ctypes.string_at(layout.bytes_address(text), len(text) + 1) == text + b"\0"
    assert word(layout.address_of(text) + layout.SIZE) == len(text)


@needs_layout
def test_slots_are_found() -> None:
    class Point:
        __slots__ = ("x", "y", "z")

    point, value = Point(), object()
    point.x, point.y = object(), value
    assert word(layout.address_of(point) + layout.slot_offset(point, value)) == id(value)
    assert layout.slot_offset(point, object()) == 0
    point.z = value
    assert layout.slot_offset(point, value) == 0  # two slots refer to it


@needs_layout
@pytest.mark.parametrize("name", [*layout._FUNCTIONS, *layout._NUMPY_FUNCTIONS])
def test_functions_have_addresses(name: str) -> None:
    assert layout.function_address(name) > 0
    assert layout.function_address(name) == layout.function_address(name)


def test_unknown_functions_are_refused() -> None:
    with pytest.raises(KeyError):
        layout.function_address("Py_Exit")


@needs_layout
def test_numpys_function_makes_arrays() -> None:
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *[ctypes.py_object] * 2,
        ctypes.c_int,
        ctypes.c_void_p,
        *[ctypes.c_void_p] * 2,
        ctypes.c_int,
        ctypes.c_void_p,
    )
    dtype, lengths = np.dtype(np.float32), (ctypes.c_ssize_t * 2)(3, 5)
    # It takes a reference to the dtype, which the machine code that calls it gives it too.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))
    new_array = prototype(layout.function_address("new_array"))
    made = new_array(np.ndarray, dtype, 2, lengths, None, None, 0, None)
    assert made.shape == (3, 5) and made.dtype == dtype and made.flags.owndata


@needs_layout
@pytest.mark.parametrize("value", [0, 1, -1, 2**62, -(2**63), 2**63, -(2**200)])
def test_integers_are_read_with_64_bits_on_every_system(value: int) -> None:
    overflow = ctypes.c_int(7)
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.c_void_p)
    read = prototype(layout.function_address("int_as_int64"))
    found = read(value, ctypes.byref(overflow))
    if -(2**63) <= value < 2**63:
        assert (found, overflow.value) == (value, 0)
    else:
        assert overflow.value == (1 if value > 0 else -1)


@needs_layout
@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("TYPE", layout.REFERENCE_COUNT),
        ("SIZE", layout.REFERENCE_COUNT),
        ("BYTES_DATA", layout.SIZE),
        ("TUPLE_ITEMS", layout.SIZE),
        ("LIST_ITEMS", layout.TYPE),
        ("ARRAY_DATA", layout.TYPE),
        ("ARRAY_RANK", layout.ARRAY_FLAGS),
        ("ARRAY_LENGTHS", layout.ARRAY_LENGTHS + 8),  # the strides
        ("ARRAY_DTYPE", layout.TYPE),
        ("ARRAY_FLAGS", layout.ARRAY_RANK),
    ],
)
def test_another_layout_is_noticed(monkeypatch: pytest.MonkeyPatch, field: str, other: int) -> None:
    assert layout._verified()
    monkeypatch.setattr(layout, field, other)
    assert not layout._verified()


@pytest.mark.skipif(not layout.ATTRIBUTES_HAVE_VERSIONS, reason="attributes change without a word")
@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("MANAGED_DICT", layout.TYPE),
        ("DICT_VERSION", layout.SIZE),
        ("TYPE_VERSION", layout.TYPE_VERSION + 16),  # the vectorcall
    ],
)
def test_another_layout_of_attributes_is_noticed(
    monkeypatch: pytest.MonkeyPatch, field: str, other: int
) -> None:
    assert layout._attribute_versions_verified()
    monkeypatch.setattr(layout, field, other)
    assert not layout._attribute_versions_verified()


@needs_layout
def test_the_dict_of_an_object_is_found() -> None:
    class Plain:
        pass

    class OfList(list):
        pass

    for owner in (Plain(), OfList(), sys, layout):
        offset = layout.dict_offset(owner)
        if offset:
            assert word(layout.address_of(owner) + offset) == layout.address_of(vars(owner))
    assert layout.dict_offset(sys) > 0
    with pytest.raises(TypeError):
        layout.dict_offset(1)
