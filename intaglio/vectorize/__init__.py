"""Vectorisation: a recorded function of one row carried out for all rows at once.

The rules are tables beside the catalogue, imported when a program first asks for them: importing
the catalogue costs what it did, and one rule stands for the many ops that are alike here.
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
