"""Upward calls: calls from a layer to functions of higher layers, through one typed record per layer.

Imports go down the layers; some calls go up: the door starts every thread on the eager level, a
shape is written as a message of graphdef. A layer that makes such calls declares them as the
fields of a record, `Hooks`, and calls `HOOKS.field(...)`. `intaglio/bootstrap.py` names the target of each
field. It is imported on the first access, so that wiring imports nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.base.messages import Form
    from intaglio.base.shapes import Dims

# By record ("intaglio.base.hooks") and field, the "module:name" of its value: see `later.named`.
_TARGETS: dict[str, Mapping[str, str]] = {}


def wire(targets: Mapping[str, Mapping[str, str]]) -> None:
    """Sets the targets of the fields of all records: by the record's module, field to "module:name".

    Called once, by `intaglio.bootstrap`.
    """
    _TARGETS.update(targets)


class Hooks:
    """The upward calls of one layer: a subclass annotates the fields, its module holds one."""

    def __getattr__(self, field: str) -> Any:
        """Imports the target of a field on first access; from then on it is a plain attribute.

        Raises AttributeError for a field that bootstrap does not name.
        """
        target = _TARGETS.get(type(self).__module__, {}).get(field)
        if target is None:
            raise AttributeError(f"{type(self).__name__} has no field {field!r} that is wired")
        found = later.named(target)
        setattr(self, field, found)
        return found


class BaseHooks(Hooks):
    """Calls from this layer to those for protocol buffers, native code, notebooks and XLA."""

    # A shape as a TensorShapeProto.
    shape_proto: Callable[[Dims], Any]
    # The message form of a class, by the class's name.
    message_forms: Mapping[str, Form]
    # Selects a native kernel by kind and hashable description; None if there is none.
    select_kernel: Callable[..., Callable[..., Any] | None]
    # The same, but None while the code is being compiled in the background.
    kernel_when_ready: Callable[..., Callable[..., Any] | None]
    # An object as HTML, for notebooks.
    html: Callable[[Any], str]
    # The types of the devices of XLA that are not the host, in their order: ("GPU", "GPU").
    accelerators: Callable[[], Sequence[str]]
    # The bytes in use on one of them by its full name, and their peak.
    accelerator_memory: Callable[[str], dict[str, int]]
    # The details of one of them.
    accelerator_details: Callable[[str], dict[str, Any]]


HOOKS = BaseHooks()


class ShownInNotebooks:
    """A base class of objects that notebooks show as HTML, written by `insight/html.py`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return HOOKS.html(self)
