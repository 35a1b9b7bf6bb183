"""Vectorisation: a recorded function of one row executed for all rows at once.

The rules are tables beside the catalogue, imported on first use: importing
the catalogue gets no slower, and one rule serves all ops of one kind.
"""

from typing import TYPE_CHECKING

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.vectorize.mapping import rows_of as rows_of
    from intaglio.vectorize.mapping import vectorized as vectorized
else:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "rows_of": "intaglio.vectorize.mapping:rows_of",
            "vectorized": "intaglio.vectorize.mapping:vectorized",
        },
    )
