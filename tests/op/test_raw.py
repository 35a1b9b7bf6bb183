"""Families of ops that are imported when needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from intaglio import tf  # noqa: F401  (declares the catalogue)
from intaglio.op import raw


def test_families_declare_what_they_are_expected_to():
    """The table of families to import names each op of theirs, and only those."""
    declared = {n: type(op).__module__ for n, op in raw.catalogue().items()}
    expected = raw._homes
    late = set(expected.values())
    assert expected == {n: home for n, home in declared.items() if home in late}


def test_an_unknown_op_says_where_to_look():
    with pytest.raises(AttributeError, match=r"no op named 'Nope'; docs/coverage.md"):
        raw.Nope  # noqa: B018


def test_the_catalogue_is_complete_once_asked_for():
    code = (
        "from intaglio.op import raw; from intaglio import tf; "
        "print(sorted(dir(raw)) == sorted(raw.catalogue()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "True"
