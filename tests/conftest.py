"""What tests change of the process does not reach other tests, nor the user's own cache."""

from __future__ import annotations

import gc
import getpass
import logging
import os
import pathlib
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

_PLACE = pathlib.Path(tempfile.gettempdir()) / f"intaglio-tests-{getpass.getuser()}"
os.environ.setdefault("INTAGLIO_CACHE", str(_PLACE))
# Tests are of what is compiled now.
os.environ.setdefault("INTAGLIO_PREPARED", "")
# How long an example takes says how busy the machine is; speed is measured in benchmarks.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

from intaglio.base.options import OPTIONS  # noqa: E402
from intaglio.native import fallback  # noqa: E402
from intaglio.runtime import random_state  # noqa: E402  (reads the environment)

# No test hides an error of the native compiler behind the interpreter.
fallback.VERIFY = True


@pytest.fixture(autouse=True, scope="module")
def _older_objects_are_permanent() -> None:
    """Collections of a module's tests look at that module's objects: a worker has millions in the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def no_permanent_objects() -> None:
    """For tests of who holds an object: the collector says nothing of permanent ones."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _as_at_the_start() -> Iterator[None]:
    """Libraries that tests import set the logger's level; tests set the global seed, allow
    less accuracy, and demand that ops give the same bits always."""
    logging.getLogger("tensorflow").setLevel(logging.NOTSET)
    if random_state.SEEDS.seed is not None:
        random_state.SEEDS.set(None)
    OPTIONS.tensor_float_32 = None
    OPTIONS.deterministic = False
    yield
