"""The names that classes of type specs are saved under, where they have no number of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.type_specs.type_spec import TypeSpec

NAME_TO_TYPE_SPEC: dict[str, type[TypeSpec]] = {}
TYPE_SPEC_TO_NAME: dict[type[TypeSpec], str] = {}


def register(name: str) -> Callable[[Any], Any]:
    """A decorator that gives a class of type specs the name it is saved under.

    Raises ValueError if the name or the class is registered already, or the name has no
    module (`module.Name`).
    """

    def decorate(cls: Any) -> Any:
        if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
            raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
        if "." not in name:
            raise ValueError(f"Registered name must have the form 'module.Name'; got {name!r}.")
        if cls in TYPE_SPEC_TO_NAME:
            raise ValueError(
                f"Class {cls.__name__} has already been registered with name "
                f"{TYPE_SPEC_TO_NAME[cls]}."
            )
        if name in NAME_TO_TYPE_SPEC:
            raise ValueError(
                f"Name {name} has already been registered for class {NAME_TO_TYPE_SPEC[name]}."
            )
        NAME_TO_TYPE_SPEC[name], TYPE_SPEC_TO_NAME[cls] = cls, name
        return cls

    return decorate


def get_name(cls: Any) -> str:
    """The registered name of a class of type specs. Raises ValueError if it has none."""
    if cls not in TYPE_SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {cls.__name__} has not been registered.")
    return TYPE_SPEC_TO_NAME[cls]


def lookup(name: str) -> Any:
    """The class of type specs of that name. Raises ValueError if there is none."""
    if name not in NAME_TO_TYPE_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return NAME_TO_TYPE_SPEC[name]
