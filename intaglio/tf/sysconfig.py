"""`tf.sysconfig`: how the library was built. Nothing here is compiled, and nothing linked.

Follows https://www.tensorflow.org/api_docs/python/tf/sysconfig.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

CXX11_ABI_FLAG = 1
CXX_VERSION = 201703
MONOLITHIC_BUILD = 0


def get_build_info() -> OrderedDict[str, Any]:
    """Which accelerators the build knows."""
    return OrderedDict(
        is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False
    )


def get_compile_flags() -> list[str]:
    """Flags for compiling own kernels: none, kernels are Python."""
    return []


def get_link_flags() -> list[str]:
    """Flags for linking own kernels: none."""
    return []


__all__ = [
    "CXX11_ABI_FLAG",
    "CXX_VERSION",
    "MONOLITHIC_BUILD",
    "get_build_info",
    "get_compile_flags",
    "get_link_flags",
]
