"""Tests of native kernels are left out where Python cannot call them: see `base/portable.py`.

`INTAGLIO_PORTABLE=1 make test` runs the others, which is what a free-threaded build can run.
"""

from __future__ import annotations

import pathlib

import pytest

from intaglio.base.portable import PORTABLE

HERE = pathlib.Path(__file__).parent
# What holds for the portable way too.
ANYWHERE = frozenset(
    [
        "test_buffers",
        "test_calls",
        "test_clusters",
        "test_fused",
        "test_pool",
        "test_store",
        "test_systems",
    ]
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="kernels are called by machine code")
    for item in items:
        if PORTABLE and item.path.parent == HERE and item.path.stem not in ANYWHERE:
            item.add_marker(skip)
