"""Tensors to and from DLPack capsules: memory shared with other array libraries.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dlpack and
https://dmlc.github.io/dlpack/latest/c_api.html. NumPy does the sharing; what it does not
know, bfloat16, travels as uint16 under another type code.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.devices import list_accelerators
from intaglio.base.dtypes import bfloat16
from intaglio.cpython import capsules
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.runtime.hooks import HOOKS
from intaglio.runtime.value import exportable

UNSIGNED, BFLOAT = 1, 4
HOST = (1, 0)


class _Head(ctypes.Structure):
    """The leading fields of the C struct DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


class _Capsule:
    """A capsule as an object with `__dlpack__`, which `numpy.from_dlpack` takes."""

    def __init__(self, capsule: Any, device: tuple[int, int] = HOST) -> None:
        self._capsule = capsule
        self._device = device

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def _head(capsule: Any) -> _Head:
    return _Head.from_address(capsules.pointer(capsule, b"dltensor"))


def export(tensor: Any, **options: Any) -> Any:
    """The tensor's value in a capsule. Raises InvalidArgumentError for strings and resources."""
    array = exportable(tensor)
    if tensor.dtype is not bfloat16:
        return array.__dlpack__(**options)
    options.pop("max_version", None)  # requests the unversioned struct, whose layout is `_Head`
    capsule = array.view(np.uint16).__dlpack__(**options)
    _head(capsule).code = BFLOAT
    return capsule


def _of_accelerator(capsule: Any, head: _Head) -> Tensor:
    """The tensor of a capsule with accelerator memory. Raises InvalidArgumentError for an absent device."""
    kind = head.device_type
    exporter = _Capsule(capsule, (kind, head.device_id))
    if not list_accelerators():
        raise errors.InvalidArgumentError(
            None, None, f"a DLPack tensor of device type {kind} is not here"
        )
    return HOOKS.of_dlpack(exporter)


def to_dlpack(tf_tensor: Any) -> Any:
    """An eager tensor as a DLPack capsule. Raises InvalidArgumentError for anything else.

    >>> capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1, 2]))
    >>> print(tf.experimental.dlpack.from_dlpack(capsule).numpy())
    [1 2]
    """
    if not isinstance(tf_tensor, EagerTensor):
        raise errors.InvalidArgumentError(
            None, None, "The argument to `to_dlpack` must be a TF tensor, not Python object"
        )
    return tf_tensor.__dlpack__()


def from_dlpack(dlcapsule: Any) -> Tensor:
    """The tensor in a capsule, which may be taken only once.

    Raises TypeError for what is no capsule, InvalidArgumentError for one used before or of
    another device.

    >>> capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1, 2]))
    >>> print(tf.experimental.dlpack.from_dlpack(capsule).numpy())
    [1 2]
    """
    if not capsules.is_capsule(dlcapsule):
        raise TypeError(
            f"from_dlpack takes a DLPack capsule, not {type(dlcapsule).__name__!r}; "
            "objects with __dlpack__ give one"
        )
    if not capsules.is_valid(dlcapsule, b"dltensor"):
        raise errors.InvalidArgumentError(
            None,
            None,
            'DLPack tensor must be a capsule with name "dltensor". Note that a DLPack '
            "tensor may be consumed at most once.",
        )
    head = _head(dlcapsule)
    if head.device_type != 1:
        return _of_accelerator(dlcapsule, head)
    wide = head.code == BFLOAT
    if wide:
        head.code = UNSIGNED
    array = np.from_dlpack(_Capsule(dlcapsule))
    return from_array(array.view(bfloat16.numpy) if wide else array)
