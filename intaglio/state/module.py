"""`tf.Module`: an object that finds the variables and modules among its attributes.

Follows https://www.tensorflow.org/api_docs/python/tf/Module.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from intaglio.base import nest
from intaglio.state.tracking import EXPLICIT, PARTS, REPLACED, UNTRACKED, WAITING, AutoTrackable
from intaglio.state.variable import Variable
from intaglio.trace.scopes import name_scope

F = TypeVar("F", bound=Callable[..., Any])
_WORDS = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_NAME = re.compile(r"^[a-zA-Z_]([a-zA-Z0-9_])*$")
Path = tuple[Any, ...]


def camel_to_snake(value: str) -> str:
    """`"Conv2DTranspose"` as `"conv2_d_transpose"`."""
    return _WORDS.sub(r"_\1", value).lower()


def valid_name(name: str) -> bool:
    """True for letters, digits and underscores, without a digit in front; also for keywords."""
    return bool(_NAME.match(name))


class Module(AutoTrackable):
    """A group of variables, of modules and of functions that use them.

    Variables and modules are found in the attributes, also inside lists, tuples, dicts and
    other structures; attributes come in the order of their names. Subclasses need not call
    `super().__init__()` unless they use `name` or `name_scope`.

    Raises ValueError if `name` is no Python identifier.

    >>> layer = tf.Module()
    >>> layer.w = tf.Variable(1.0)
    >>> len(layer.trainable_variables)
    1
    """

    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset(
        (
            "_self_unconditional_checkpoint_dependencies",
            PARTS,
            REPLACED,
            EXPLICIT,
            UNTRACKED,
            WAITING,
        )
    )

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not valid_name(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                "(e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name given, or that of the class in snake case."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """The `tf.name_scope` of the module's ops and variables."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of this module and of the modules in it, each once."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable among `variables`."""
        return tuple(self._flatten(predicate=lambda v: _is_variable(v) and v.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that are not trainable."""
        return tuple(self._flatten(predicate=lambda v: _is_variable(v) and not v.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules nested in this one, to any depth, each once."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The attribute values (leaves of structures) that satisfy `predicate`.

        Goes into modules if `recursive`. With `with_path` come (path, value) pairs, and a
        value that several paths lead to comes several times.
        """
        return _walk(
            self,
            recursive,
            predicate or (lambda _: True),
            attribute_traversal_key,
            with_path,
            (),
            set(),
        )

    @classmethod
    def with_name_scope(cls, method: F) -> F:
        """Decorates a method: its ops and variables are named in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped  # type: ignore[return-value]  # called like the method


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _is_module(value: Any) -> bool:
    return isinstance(value, Module)


def _walk(
    module: Module,
    recursive: bool,
    predicate: Callable[[Any], bool],
    order: Callable[[str], Any] | None,
    with_path: bool,
    path: Path,
    seen: set[int],
) -> Iterator[Any]:
    """The values of `Module._flatten`: first the module's own, then those of nested modules."""
    seen.add(id(module))
    attributes = vars(module)
    inner: list[tuple[Path, Module]] = []
    for key in sorted(attributes, key=order):
        if key in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for rest, leaf in _leaves(module, key, attributes[key]):
            where = (*path, key, *rest)
            if not with_path:
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
            if predicate(leaf):
                yield (where, leaf) if with_path else leaf
            if recursive and isinstance(leaf, Module):
                inner.append((where, leaf))
    for where, child in inner:
        yield from _walk(
            child, recursive, predicate, order, with_path, where, seen if not with_path else set()
        )


def _leaves(module: Module, key: str, value: Any) -> Iterator[tuple[Path, Any]]:
    try:
        yield from nest.flatten_with_paths(value)
    except Exception as cause:
        raise ValueError(f"Error processing property {key!r} of {module!r}") from cause
