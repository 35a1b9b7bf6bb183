"""Whole files, read and written. A file's contents may change, so reads keep their order."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from intaglio.base import files
from intaglio.base.dtypes import string
from intaglio.base.errors import invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text.strings import filled, shape_text


def _one(text: Any, name: str) -> bytes:
    if np.ndim(text):
        raise invalid_argument(
            f"Input {name} tensor must be scalar, but had shape: {shape_text(np.shape(text))}"
        )
    return bytes(np.asarray(text, object)[()])


@op
class ReadFile(Op):
    """The bytes of a file."""

    signature = "filename: string; -> contents: string"
    path_inputs = ("filename",)
    stateful = True
    droppable = True
    differentiable = False
    reaches_outside = "files"

    def infer(self) -> Spec:
        return Spec(string, ())

    def kernel(self, filename):
        return filled([files.read(os.fsdecode(_one(filename, "filename")))], ())


@op
class WriteFile(Op):
    """Makes a text the contents of a file, and the folders that it is to be in."""

    signature = "filename: string, contents: string; ->"
    path_inputs = ("filename",)
    stateful = True
    differentiable = False
    reaches_outside = "files"

    def infer(self) -> list[Spec]:
        return []

    def kernel(self, filename, contents):
        path = os.fsdecode(_one(filename, "filename"))
        folder = os.path.dirname(path)
        if folder and not files.exists(folder):
            files.make_folders(folder)
        files.write(path, _one(contents, "contents"))


@op
class MatchingFiles(Op):
    """The names of the files that the patterns match, sorted."""

    signature = "pattern: string; -> filenames: string"
    path_inputs = ("pattern",)
    stateful = True
    droppable = True
    differentiable = False
    reaches_outside = "files"

    def infer(self) -> Spec:
        return Spec(string, (None,))

    def kernel(self, pattern):
        names: set[bytes] = set()
        for one in np.asarray(pattern, object).ravel():
            names.update(map(os.fsencode, files.matching(os.fsdecode(one))))
        return filled(sorted(names), (len(names),))
