"""`tf.sysconfig`: how the library was built. Nothing here is compiled, and nothing linked.

Follows https://www.tensorflow.org/api_docs/python/tf/sysconfig.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import Any

CXX11_ABI_FLAG = 1
CXX_VERSION = 201703
MONOLITHIC_BUILD = 0
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def get_build_info() -> OrderedDict[str, Any]:
    """The accelerators that the build supports.

    >>> tf.sysconfig.get_build_info()["is_cuda_build"]
    False
    """
    return OrderedDict(is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False)


def get_compile_flags() -> list[str]:
    """Flags for compiling own kernels: none, kernels are Python.

    >>> isinstance(tf.sysconfig.get_compile_flags(), list)
    True
    """
    return []


def get_link_flags() -> list[str]:
    """Flags for linking own kernels: none.

    >>> isinstance(tf.sysconfig.get_link_flags(), list)
    True
    """
    return []


def get_include() -> str:
    """The folder of the package: it has no C++ headers.

    >>> isinstance(tf.sysconfig.get_include(), str)
    True
    """
    return _FOLDER


def get_lib() -> str:
    """The folder of the package: it has no shared library.

    >>> isinstance(tf.sysconfig.get_lib(), str)
    True
    """
    return _FOLDER


__all__ = [
    "CXX11_ABI_FLAG",
    "CXX_VERSION",
    "MONOLITHIC_BUILD",
    "get_build_info",
    "get_compile_flags",
    "get_include",
    "get_lib",
    "get_link_flags",
]
