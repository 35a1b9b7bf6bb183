"""Benchmarks stand beside the package: what they import of it is there."""

from __future__ import annotations

import importlib

import pytest

from tests.architecture.sources import ROOT

MODULES = sorted(p.stem for p in (ROOT / "benchmarks").glob("*.py") if p.stem != "__init__")


@pytest.mark.parametrize("name", MODULES)
def test_benchmarks_can_be_imported(name: str) -> None:
    assert importlib.import_module(f"benchmarks.{name}").__doc__
