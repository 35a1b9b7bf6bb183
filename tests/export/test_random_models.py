"""Random networks, steps of training and other programs of models: libraries give what Python gives.

Selected by `-m targets`; `EXPORT_MODELS` is how many.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import warnings

import pytest

pytest.importorskip("keras")

from tests.export.random_models import outcome

pytestmark = [
    pytest.mark.targets,
    pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler"),
]
GROUP = 16


@pytest.mark.parametrize("first", range(0, int(os.environ.get("EXPORT_MODELS", "64")), GROUP))
def test_models(first: int, tmp_path: pathlib.Path) -> None:
    """All of them are exported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [outcome(seed, tmp_path) for seed in range(first, first + GROUP)]
    assert not [f for f in found if f[0] != "equal"]
