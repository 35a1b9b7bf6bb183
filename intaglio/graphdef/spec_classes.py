"""Where the type specs of higher layers are: imported when one is read or written."""

from __future__ import annotations

from collections.abc import Mapping

# By TypeSpecProto.TypeSpecClass: "module:name", as `later.named` takes it.
SPEC_CLASSES: dict[int, str] = {}
# Specs of extension types, which have one number, by the names that TensorFlow wrote first.
EXTENSION_CLASSES: dict[str, str] = {}
EXTENSION = 13
# Other classes of type specs that programs have registered.
REGISTERED = 12


def expect(names: Mapping[int, str]) -> None:
    """Says where type specs of higher layers are, by TypeSpecProto.TypeSpecClass."""
    SPEC_CLASSES.update(names)


def expect_extensions(names: Mapping[str, str]) -> None:
    """Says where type specs of extension types are, by the names they are written under."""
    EXTENSION_CLASSES.update(names)
