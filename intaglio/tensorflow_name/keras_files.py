"""Keras' files and folders, written so that a process that is killed leaves the old one or the new.

Keras opens the file that it is to write, and so empties it, first. Its functions are called with a
path beside instead, and what they wrote there takes the place of the file, or of those entries of
the folder that are Keras'. Keras itself stays as it is; the functions are replaced when their modules
are imported.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from typing import Any

from intaglio.base import files, replacing
from intaglio.base.import_hooks import after_import

# By module: the functions of a model and a path that write one file.
_FUNCTIONS = {
    "keras.src.saving.saving_lib": ("save_model", "save_weights_only"),
    "keras.src.legacy.saving.legacy_h5_format": ("save_model_to_hdf5",),
}
# The function that writes a model to a folder, the entries that are its, and those that read it.
_WRITE_FOLDER = "_save_model_to_dir"
_READ = {"keras.src.saving.saving_api": ("load_model",)}
_ENTRIES = ("metadata.json", "config.json", "model.weights.h5", "model.weights.npz", "assets")
# Endings of names of single files. Others are folders, or lists of several files.
_ENDINGS = (".keras", ".h5", ".hdf5")


def install() -> None:
    """Replaces the functions, now or when Keras is imported. Calling it again changes nothing."""
    for name in (*_FUNCTIONS, *_READ):
        after_import(name, _replace)


def _replace(module: types.ModuleType) -> None:
    changes: dict[str, Callable[[Callable[..., Any]], Any]] = {
        **dict.fromkeys(_FUNCTIONS.get(module.__name__, ()), _at_once),
        **dict.fromkeys(_READ.get(module.__name__, ()), _finished),
        _WRITE_FOLDER: _folder_at_once,
    }
    for name, change in changes.items():
        function = getattr(module, name, None)
        if function is not None:
            setattr(module, name, change(function))


def _at_once(write: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with a file that takes the place of the old one when all is written."""

    @functools.wraps(write)
    def call(model: Any, filepath: Any, *args: Any, **kwargs: Any) -> Any:
        path = os.fspath(filepath) if isinstance(filepath, (str, os.PathLike)) else ""
        single = path.endswith(_ENDINGS) and not os.path.isdir(path)
        if (
            not single
            or files.scheme_of(path)
            or (os.path.isfile(path) and not _overwrites(args, kwargs))
        ):
            return write(model, filepath, *args, **kwargs)
        if not os.path.isdir(os.path.dirname(path) or "."):  # Keras says so
            return write(model, filepath, *args, **kwargs)
        with files.explained(path), replacing.replaced_path(path) as beside:
            return write(model, beside, *args, **kwargs)

    return call


def _folder_at_once(write: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a model and a folder, with one that takes the folder's place when it is full."""

    @functools.wraps(write)
    def call(model: Any, dirpath: Any, *args: Any, **kwargs: Any) -> Any:
        path = os.fspath(dirpath)
        if files.scheme_of(path):
            return write(model, dirpath, *args, **kwargs)
        with files.explained(path), replacing.replaced_folder(path, _ENTRIES) as beside:
            return write(model, beside, *args, **kwargs)

    return call


def _finished(read: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a path, after what a killed process had begun to put into a folder there."""

    @functools.wraps(read)
    def call(filepath: Any, *args: Any, **kwargs: Any) -> Any:
        path = os.fspath(filepath) if isinstance(filepath, (str, os.PathLike)) else ""
        if path and not files.scheme_of(path):
            replacing.finish(path)
        return read(filepath, *args, **kwargs)

    return call


def _overwrites(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """False if the function would ask whether it may overwrite a file."""
    return kwargs.get("overwrite", True) is not False and (not args or args[0] is not False)
