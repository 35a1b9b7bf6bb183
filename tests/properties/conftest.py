"""The settings of the generated programs: fixed and short, or larger to hunt for bugs.

`INTAGLIO_HUNT=2000 pytest tests/properties` tries that many new programs of each kind.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

from intaglio.native import tiers

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "properties",
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=_QUIET,
)
settings.register_profile(
    "hunt",
    max_examples=int(os.environ.get("INTAGLIO_HUNT", "500")),
    deadline=None,
    database=None,
    suppress_health_check=_QUIET,
)
PROFILE = settings.get_profile("hunt" if "INTAGLIO_HUNT" in os.environ else "properties")


@pytest.fixture(autouse=True, scope="package")
def _bits_of_the_interpreter():
    """Plain functions are not compiled before their first call: sines then have other bits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiers, "MAX_BREAK_EVEN_CALLS", 0.0)
        yield
