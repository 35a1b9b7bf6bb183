"""Benchmarks and long checks are outside of the package: what they import of it exists."""

from __future__ import annotations

import importlib

import pytest

from tests.architecture.sources import ROOT

MODULES = sorted(
    f"{folder}.{p.stem}"
    for folder in ("benchmarks", "trust")
    for p in (ROOT / folder).glob("*.py")
    if p.stem != "__init__"
)


@pytest.mark.parametrize("name", MODULES)
def test_modules_beside_the_package_can_be_imported(name: str) -> None:
    assert importlib.import_module(name).__doc__
