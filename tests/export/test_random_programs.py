"""Random programs of `trust` as C libraries: equal to native code in this process.

An export either gives the results of the function with `jit_compile=True`, refuses as that function
raises, or names the op that has no code. Selected by `-m targets`; `EXPORT_PROGRAMS` is how many.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import warnings

import pytest

from tests.export.random_programs import outcome

pytestmark = [
    pytest.mark.targets,
    pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler"),
]
COUNT = int(os.environ.get("EXPORT_PROGRAMS", "200"))
GROUP = 100
# At least so many of a group are exported. The others call Python, iterate over datasets, or have sizes that are data and may be any.
EXPORTED = 85


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_programs(first: int, tmp_path: pathlib.Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [outcome(seed, tmp_path)[0] for seed in range(first, min(first + GROUP, COUNT))]
    assert found.count("equal") >= EXPORTED, found
    print({kind: found.count(kind) for kind in {*found}})
