"""Every kind of kernel names a function that there is, and imports its own modules alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from intaglio.base import later
from intaglio.native.kernels.kinds import KINDS

FIRST_PRODUCT = """
import sys
from intaglio import native
native.select_kernel("product", (8, 9), (9, 10), False, False)
print(*[name for name in sys.modules if name.startswith("intaglio.native.kernels.")])
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_names_a_function(kind):
    assert callable(later.named(f"intaglio.native.kernels.{KINDS[kind].target}"))


def test_a_product_imports_no_other_kernels():
    run = subprocess.run(
        [sys.executable, "-c", FIRST_PRODUCT], capture_output=True, text=True, check=True
    )
    imported = {name.rsplit(".", 1)[1] for name in run.stdout.split()}
    assert imported == {"batches", "kinds", "library", "matmul", "microkernel"}
