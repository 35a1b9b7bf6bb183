"""`tf.__internal__.tracking`: objects that are saved with what is in their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.state.tracking import AutoTrackable, Trackable, no_automatic_dependency_tracking
from intaglio.tensorflow_name.internal_names import SPACES

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, SPACES.origins("tracking"))

__all__ = ["AutoTrackable", "Trackable", "no_automatic_dependency_tracking"]
