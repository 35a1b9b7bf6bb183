"""Tests leave the user's own cache of machine code alone."""

from __future__ import annotations

import getpass
import os
import pathlib
import tempfile

_PLACE = pathlib.Path(tempfile.gettempdir()) / f"intaglio-tests-{getpass.getuser()}"
os.environ.setdefault("INTAGLIO_CACHE", str(_PLACE))
