"""Tests of native kernels are skipped where Python cannot call them: see `cpython.AVAILABLE`.

`INTAGLIO_PORTABLE=1 make test` runs the others, which is what a free-threaded build can run.
"""

from __future__ import annotations

import pathlib

import pytest

from intaglio import cpython

HERE = pathlib.Path(__file__).parent
# What holds for portable builds too.
ANYWHERE = frozenset(
    [
        "kernels/test_elementwise",
        "llvm/test_object_cache",
        "passes/test_elementwise_fusion",
        "runtime/test_buffers",
        "runtime/test_native_calls",
        "runtime/test_thread_pool",
        "test_systems",
    ]
)


def name_of(path: pathlib.Path) -> str:
    """The path of a test file in this folder, without its ending."""
    return path.relative_to(HERE).with_suffix("").as_posix()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    files = {name_of(path) for path in HERE.rglob("test_*.py")}
    assert files >= ANYWHERE, "a test file was renamed"
    skip = pytest.mark.skip(reason="kernels are called by machine code")
    for item in items:
        if (
            not cpython.AVAILABLE
            and item.path.is_relative_to(HERE)
            and name_of(item.path) not in ANYWHERE
        ):
            item.add_marker(skip)
