"""Files and folders by path, here and elsewhere: `tf.io.gfile`.

Follows https://www.tensorflow.org/api_docs/python/tf/io/gfile. Paths with a scheme
("gs://bucket/name") need the package fsspec and what it needs for the scheme.
"""

from __future__ import annotations

from intaglio.base.file_objects import GFile
from intaglio.base.gfile import (
    copy,
    exists,
    get_registered_schemes,
    glob,
    isdir,
    join,
    listdir,
    makedirs,
    mkdir,
    remove,
    rename,
    rmtree,
    stat,
    walk,
)

__all__ = [
    "GFile",
    "copy",
    "exists",
    "get_registered_schemes",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]
