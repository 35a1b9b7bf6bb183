"""One package under the name of another: an import hook, for this process only."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

from intaglio.base import later
from intaglio.base.locks import lasting_lock

# A module of the alias without a counterpart: its names with their targets.
Origins = Mapping[str, str]
# A name that a module must have once it is imported, and not only when it is asked for: messages of
# other libraries depend on files of messages without a word of it in Python.
AT_ONCE = "DESCRIPTOR"


class Alias(MetaPathFinder, Loader):
    """An import hook: `import name` gives the package `target`, `import name.a.b` the module `target.a.b`.

    Modules are imported on first use, and only once: the modules under the
    alias *are* the modules of the target. `extra` adds modules that the target does not
    have. `missing(name)` is the message for a module that does not exist. `metadata` is a folder `NAME.dist-info`.
    """

    def __init__(
        self,
        name: str,
        target: str,
        extra: Mapping[str, Origins],
        missing: Callable[[str], str],
        metadata: Path | None = None,
    ) -> None:
        self.name = name
        self._target = target
        self._extra = extra
        self._missing = missing
        self._metadata = metadata

    # -- the protocol of importlib -------------------------------------------------------

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for the alias and what is under it. Raises ModuleNotFoundError."""
        if fullname != self.name and not fullname.startswith(f"{self.name}."):
            return None
        if target is not None and target.__file__ is not None:  # importlib.reload
            return _spec_of_file(target.__name__, target)
        if self._module(fullname) is None:
            raise ModuleNotFoundError(self._missing(fullname), name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """The distribution of the alias's name, for programs that ask which version is installed."""
        wanted = getattr(context, "name", None)
        if self._metadata is None or wanted not in (None, self.name):
            return []
        metadata = sys.modules["importlib.metadata"]
        installed = metadata.DistributionFinder.Context(name=self.name)
        if any(True for _ in metadata.MetadataPathFinder.find_distributions(installed)):
            return []
        return [metadata.PathDistribution(self._metadata)]

    def create_module(self, spec: ModuleSpec) -> None:
        """None: importlib creates a module, which `exec_module` discards."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Replaces the module that importlib created by the target module.

        importlib returns what it finds in `sys.modules` afterwards.
        """
        found = self._module(module.__name__)
        if found is not None:  # as find_spec has seen
            self._named(found, module.__spec__)
            sys.modules[module.__name__] = found

    def take_over(self, module: types.ModuleType) -> None:
        """Replaces a module of the alias's name that is being imported by the target."""
        found = later.named(self._target)
        self._named(found, module.__spec__)
        sys.modules[self.name] = found

    def _named(self, found: types.ModuleType, spec: ModuleSpec | None) -> None:
        """Sets a module's spec to the one that `find_spec` returns under the alias.

        A module of another package that the target only re-exports keeps its own.
        """
        own = found.__spec__
        if spec is None or (own is not None and not own.name.startswith(self._target)):
            return
        found.__spec__ = spec if own is None else _spec_of_file(spec.name, found)

    # -- which module is meant -----------------------------------------------------------

    def _module(self, fullname: str) -> types.ModuleType | None:
        rest = fullname[len(self.name) + 1 :]
        if rest in self._extra:
            return _extra_module(fullname, self._extra[rest], self._below(rest))
        if below := self._below(rest):
            return _extra_module(fullname, {}, below)
        found: Any = later.named(self._target)
        for part in rest.split(".") if rest else ():
            found = getattr(found, part, None)
        return found if isinstance(found, types.ModuleType) else None

    def _below(self, rest: str) -> dict[str, str]:
        """The modules right below one of `extra`, by their names: attributes of it without an import."""
        if not rest:
            return {}
        children = {
            k[len(rest) + 1 :].partition(".")[0] for k in self._extra if k.startswith(f"{rest}.")
        }
        return {child: f"{self.name}.{rest}.{child}" for child in children}


def _spec_of_file(name: str, module: types.ModuleType) -> ModuleSpec | None:
    """The spec of a module of a file under this name."""
    folders = getattr(module, "__path__", None)
    return spec_from_file_location(
        name, module.__file__, submodule_search_locations=None if folders is None else [*folders]
    )


class _Both(Mapping[str, str]):
    """The names of a module, and the modules below it."""

    def __init__(self, names: Origins, below: dict[str, str]) -> None:
        self._names = names
        self._below = below

    def __contains__(self, name: object) -> bool:
        return name in self._names or name in self._below

    def __getitem__(self, name: str) -> str:
        return self._names[name] if name in self._names else self._below[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._names), **self._below})

    def __len__(self) -> int:
        return len(list(iter(self)))


def _extra_module(fullname: str, names: Origins, below: dict[str, str]) -> types.ModuleType:
    """A module with these names and submodules; memoized."""
    module = sys.modules.get(fullname)
    if module is None or not hasattr(module, "__getattr__"):
        module = types.ModuleType(fullname)
        module.__path__ = []
        find, listed = later.attributes(fullname, _Both(names, below))
        module.__getattr__, module.__dir__ = find, listed  # type: ignore[method-assign]  # PEP 562
        if AT_ONCE in tuple(names):
            setattr(module, AT_ONCE, later.named(names[AT_ONCE]))
    return module


_lock = lasting_lock()


def is_installed(name: str) -> bool:
    """True if a package is imported under another name, this one, in this process."""
    return any(isinstance(finder, Alias) and finder.name == name for finder in sys.meta_path)


def install(alias: Alias, replaced: types.ModuleType | None = None) -> None:
    """Installs the alias for all later imports; idempotent.

    Raises ImportError if another package than `replaced` has been imported under that name.
    """
    with _lock:
        if alias in sys.meta_path:
            return
        other = sys.modules.get(alias.name)
        if other is not None and other is not replaced:
            raise ImportError(
                f"{alias.name!r} is already imported in this process, from "
                f"{getattr(other, '__file__', None) or 'an unknown place'}. Call "
                "intaglio.install_as_tensorflow() before anything imports it, or start "
                "the program with `intaglio run`.",
                name=alias.name,
            )
        sys.meta_path.insert(0, alias)
