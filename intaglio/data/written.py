"""What writes positions, pipelines and folders: imported when it is first asked for.

It needs protocol buffers, which a pipeline that only runs does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.data import serializing as serializing
    from intaglio.data import storing as storing
else:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "serializing": "intaglio.data.serializing",
            "storing": "intaglio.data.storing",
        },
    )
