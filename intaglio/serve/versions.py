"""The models of a folder: versions found, loaded, and swapped while requests run.

`folder/NAME/VERSION/saved_model.pb` is version VERSION, a number, of the model NAME, as TensorFlow
Serving has it; a folder whose own subfolders are versions is one model of the folder's name. One thread
looks for changes. A request gets the object of a version and keeps it: a version that is taken out of
service goes when the last request that runs on it has ended.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from intaglio.base import errors
from intaglio.saved_model import names
from intaglio.serve import servables
from intaglio.serve.servables import Servable

LOGGER = logging.getLogger("intaglio.serve")
# The states of `get_model_status.proto` that versions have here.
LOADING, AVAILABLE, END = "LOADING", "AVAILABLE", "END"
ALL_VERSIONS = 0

Load = Callable[[str], Servable]


class VersionStatus(NamedTuple):
    """The state of a version, and why it could not be loaded."""

    state: str
    code: int = errors.OK
    message: str = ""


class _Files(NamedTuple):
    """What a version's folder has, to notice that it is another model now."""

    folder: str
    stamps: tuple[tuple[str, int, int], ...]


@dataclasses.dataclass(frozen=True)
class Model:
    """A model as requests see it: the versions that serve, the status of all of them.

    It is replaced as a whole when something changes, so that a request sees one state.
    """

    serving: Mapping[int, Servable]
    statuses: Mapping[int, VersionStatus]
    latest: int | None


class Models:
    """The models of a folder. `refresh` looks at the folder; `start` does it again and again.

    `count` versions of each model serve, those with the highest numbers, or all of them.
    """

    def __init__(self, folder: str, count: int = 1, load: Load = servables.load) -> None:
        self.folder = os.path.realpath(folder)
        self._count = count
        self._load = load
        self._models: Mapping[str, Model] = types.MappingProxyType({})
        # What has been loaded, or could not be, by model and version.
        self._loaded: dict[tuple[str, int], _Files] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._refreshing = threading.Lock()
        if not os.path.isdir(self.folder):
            raise FileNotFoundError(f"{folder} is no folder")

    # -- for requests ------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The names of the models."""
        return sorted(self._models)

    def model(self, name: str) -> Model | None:
        """A model at this moment, or None."""
        return self._models.get(name)

    def servable(self, name: str, version: int | None) -> tuple[int, Servable]:
        """A version, or the latest one, and its number. Raises NotFoundError."""
        model = self._models.get(name)
        if model is not None:
            number = model.latest if version is None else version
            if number is not None and number in model.serving:
                return number, model.serving[number]
        wanted = f"Latest({name})" if version is None else f"Specific({name}, {version})"
        raise errors.NotFoundError(None, None, f"Servable not found for request: {wanted}")

    # -- finding -----------------------------------------------------------------------------------

    def start(self, seconds: float) -> None:
        """Looks at the folder every so many seconds, in a thread, until `stop`."""

        def watch() -> None:
            while not self._stopping.wait(seconds):
                try:
                    self.refresh()
                except Exception:  # the next look may succeed
                    LOGGER.exception("looking for versions in %s failed", self.folder)

        self._thread = threading.Thread(target=watch, name="intaglio-versions", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, after the version that it is loading."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def refresh(self) -> None:
        """Brings the models in line with the folder: new versions are loaded before old ones go."""
        with self._refreshing:
            found = self._found()
            for name in sorted({*found, *self._models}):
                self._refresh_model(name, found.get(name, {}))

    def _found(self) -> dict[str, dict[int, _Files]]:
        """The versions in the folder, by model."""
        own = dict(self._versions(self.folder))
        if own:
            return {os.path.basename(self.folder): own}
        found: dict[str, dict[int, _Files]] = {}
        for entry in sorted(os.scandir(self.folder), key=lambda e: e.name):
            if not entry.name.startswith(".") and entry.is_dir():
                versions = dict(self._versions(entry.path))
                if versions:
                    found[entry.name] = versions
        return found

    def _versions(self, folder: str) -> Iterator[tuple[int, _Files]]:
        try:
            entries = sorted(os.scandir(folder), key=lambda e: e.name)
        except OSError:  # removed meanwhile
            return
        for entry in entries:
            if not (entry.name.isascii() and entry.name.isdigit() and entry.is_dir()):
                continue
            if not self._is_inside(entry.path):
                LOGGER.warning("%s leads out of %s and is not served", entry.path, self.folder)
                continue
            stamps = tuple(_stamps(entry.path))
            if any(os.path.basename(path) == names.MODEL for path, _, _ in stamps):
                yield int(entry.name), _Files(entry.path, stamps)

    def _is_inside(self, path: str) -> bool:
        return os.path.commonpath([os.path.realpath(path), self.folder]) == self.folder

    # -- swapping ----------------------------------------------------------------------------------

    def _refresh_model(self, name: str, found: dict[int, _Files]) -> None:
        wanted = sorted(found, reverse=True)
        known = self._models.get(name, Model({}, {}, None))
        serving = dict(known.serving)
        statuses = {v: s for v, s in known.statuses.items() if v in found or v in serving}
        available: list[int] = []
        for version in wanted:
            # A version that cannot be loaded leaves its place to the next lower one.
            if self._count != ALL_VERSIONS and len(available) >= self._count:
                break
            if self._loaded.get((name, version)) != found[version]:
                if version not in serving:
                    statuses[version] = VersionStatus(LOADING)
                    self._publish(name, serving, statuses)
                self._attempt(name, version, found[version], serving, statuses)
            if version in serving:
                available.append(version)
        self._publish(name, serving, statuses)
        # Only now, when the new ones serve, those go that are not wanted; none goes for a version that
        # failed to load.
        removed = [v for v in serving if v not in available]
        if not removed:
            return
        for version in removed:
            del serving[version]
            self._loaded.pop((name, version), None)
            LOGGER.info("%s version %d is out of service", name, version)
            if version in found:
                statuses[version] = VersionStatus(END)
            else:
                statuses.pop(version, None)
        self._publish(name, serving, statuses)

    def _attempt(
        self,
        name: str,
        version: int,
        files: _Files,
        serving: dict[int, Servable],
        statuses: dict[int, VersionStatus],
    ) -> None:
        """Loads a version. One that serves already goes on if its new files cannot be loaded."""
        self._loaded[name, version] = files
        try:
            serving[version] = self._load(files.folder)
        except Exception as e:  # whatever is wrong with this version, the others go on
            LOGGER.warning("%s version %d cannot be loaded: %s", name, version, e)
            if version not in serving:
                code = e.error_code if isinstance(e, errors.OpError) else errors.UNKNOWN
                statuses[version] = VersionStatus(END, code, f"{type(e).__name__}: {e}")
        else:
            LOGGER.info("%s version %d is available", name, version)
            statuses[version] = VersionStatus(AVAILABLE)

    def _publish(
        self, name: str, serving: Mapping[int, Servable], statuses: Mapping[int, VersionStatus]
    ) -> None:
        models = dict(self._models)
        if serving or statuses:
            models[name] = Model(dict(serving), dict(statuses), max(serving, default=None))
        else:
            models.pop(name, None)
        self._models = types.MappingProxyType(models)


def _stamps(folder: str) -> Iterator[tuple[str, int, int]]:
    """The files of a SavedModel with their sizes and times."""
    for root in (folder, os.path.join(folder, names.VARIABLES)):
        try:
            for entry in sorted(os.scandir(root), key=lambda e: e.name):
                if entry.is_file():
                    status = entry.stat()
                    yield entry.path, status.st_size, status.st_mtime_ns
        except OSError:  # there is no such folder, or not any more
            return


def status_json(model: Model, version: int | None) -> dict[str, Any]:
    """The message GetModelStatusResponse of a model, or of one version, as JSON has it.

    Raises KeyError for a version that the model has not.
    """
    statuses = model.statuses if version is None else {version: model.statuses[version]}
    return {
        "model_version_status": [
            {
                "version": str(number),
                "state": status.state,
                "status": {"error_code": _code_name(status.code), "error_message": status.message},
            }
            for number, status in sorted(statuses.items(), reverse=True)
        ]
    }


_CODE_NAMES = {
    value: name for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)
}


def _code_name(code: int) -> str:
    return _CODE_NAMES.get(code, "UNKNOWN")
