"""Shape errors in a traced branch or body, deferred to the run of the graph.

`x[4]` in a branch is out of bounds of a `x` whose shape is known only where the branch is taken.
Eagerly nothing happens otherwise, so the graph raises there what the op raises eagerly.
Other errors of shapes are mistakes wherever they are, and are raised while tracing.
"""

from __future__ import annotations

import re
from typing import Any

from intaglio.autograph.handlers import check_handlers
from intaglio.autograph.regions import MARK
from intaglio.autograph.strictness import is_strict
from intaglio.base.errors import InvalidArgumentError
from intaglio.opdef import convert, raw
from intaglio.opdef.op import RAISES

_OUT_OF_BOUNDS = re.compile(r"slice index -?\d+ of dimension \d+ out of bounds\.")


class _OutOfBounds:
    """The error of an index out of bounds, recorded into the graph that raises it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def record(self) -> None:
        """Makes the graph raise it, at the current point."""
        check_handlers(self.exception())
        node = raw.Assert(convert.to_tensor(False), [convert.to_tensor(self.text)])
        node.attrs = {**node.attrs, RAISES: self.exception}

    def exception(self, arrays: Any = None) -> Exception:
        """The error that the op raises eagerly."""
        return InvalidArgumentError(None, None, self.text)


def left_to_the_run(error: BaseException) -> None:
    """Marks an error of tracing a branch or body that the graph raises, if it is reached."""
    if type(error) is not ValueError or is_strict():
        return
    found = _OUT_OF_BOUNDS.match(str(error))
    if found is not None:
        setattr(error, MARK, _OutOfBounds(found[0]))


__all__ = ["left_to_the_run"]
