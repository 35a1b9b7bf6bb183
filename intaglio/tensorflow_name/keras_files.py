"""Keras' files, written so that a process that is killed leaves the old file or the new one.

Keras opens the file that it is to write, and so empties it, first. Its functions are called with a
path beside instead, and what they wrote there takes the place of the file. Keras itself stays as it
is; the functions are replaced when their modules are imported.
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
# Endings of names of single files. Others are folders, or lists of several files.
_ENDINGS = (".keras", ".h5", ".hdf5")


def install() -> None:
    """Replaces the functions, now or when Keras is imported. Calling it again changes nothing."""
    for name in _FUNCTIONS:
        after_import(name, _replace)


def _replace(module: types.ModuleType) -> None:
    for name in _FUNCTIONS[module.__name__]:
        write = getattr(module, name, None)
        if write is not None:
            setattr(module, name, _at_once(write))


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


def _overwrites(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """False if the function would ask whether it may overwrite a file."""
    return kwargs.get("overwrite", True) is not False and (not args or args[0] is not False)
