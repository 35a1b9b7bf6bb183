"""Files that lie beside a program's source.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/resource_loader.
"""

from __future__ import annotations

import inspect
import os
import pathlib


def _caller() -> str:
    """The folder of the file that called a function of this module."""
    for frame in inspect.stack(context=0):
        if frame.filename != __file__:
            return os.path.dirname(frame.filename)
    return os.getcwd()


def get_data_files_path() -> str:
    """The folder of the file that calls."""
    return _caller()


def get_path_to_datafile(path: str) -> str:
    """A path relative to the file that calls."""
    return os.path.join(_caller(), path)


def get_root_dir_with_all_resources() -> str:
    """The folder of the file that calls."""
    return _caller()


def load_resource(path: str) -> bytes:
    """The bytes of a file whose path is relative to this package."""
    return pathlib.Path(__file__).parents[1].joinpath(path).read_bytes()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path itself."""
    return path
