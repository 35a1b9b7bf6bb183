"""Where the type specs of higher layers are: imported when one is read or written."""

from __future__ import annotations

from collections.abc import Mapping

# By TypeSpecProto.TypeSpecClass: "module:name", as `later.named` takes it.
SPEC_PLACES: dict[int, str] = {}


def expect(places: Mapping[int, str]) -> None:
    """Says where type specs of higher layers are, by TypeSpecProto.TypeSpecClass."""
    SPEC_PLACES.update(places)
