"""Where the type specs of higher layers are: imported when one is read or written."""

from __future__ import annotations

from collections.abc import Mapping

# By TypeSpecProto.TypeSpecClass: "module:name", as `later.named` takes it.
SPEC_PLACES: dict[int, str] = {}
# Specs of extension types, which have one number, by the names that TensorFlow wrote first.
EXTENSION_PLACES: dict[str, str] = {}
EXTENSION = 13


def expect(places: Mapping[int, str]) -> None:
    """Says where type specs of higher layers are, by TypeSpecProto.TypeSpecClass."""
    SPEC_PLACES.update(places)


def expect_extensions(places: Mapping[str, str]) -> None:
    """Says where type specs of extension types are, by the names they are written under."""
    EXTENSION_PLACES.update(places)
