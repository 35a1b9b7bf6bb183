"""Benchmarks and long checks are outside of the package: what they import of it exists."""

from __future__ import annotations

import importlib

import pytest

from tests.architecture.sources import ROOT

MODULES = sorted(
    ".".join(p.relative_to(ROOT).with_suffix("").parts)
    for folder in ("benchmarks", "trust")
    for p in (ROOT / folder).rglob("*.py")
    if p.stem not in ("__init__", "__main__") or p.parent == ROOT / folder
)


@pytest.mark.parametrize("name", MODULES)
def test_modules_beside_the_package_can_be_imported(name: str) -> None:
    assert importlib.import_module(name).__doc__
