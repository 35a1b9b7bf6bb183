"""`tf.__internal__.tracking`: objects that are saved with what is in their attributes."""

from __future__ import annotations

from intaglio.state.tracking import AutoTrackable, Trackable, no_automatic_dependency_tracking

__all__ = ["AutoTrackable", "Trackable", "no_automatic_dependency_tracking"]
