"""Compiled libraries of ops and kernels, and pinned memory, neither of which is supported.

Follows https://www.tensorflow.org/api_docs/python/tf/load_op_library and
https://www.tensorflow.org/api_docs/python/tf/load_library.
"""

from __future__ import annotations

import os
from typing import Any

from intaglio.base import errors
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable

_WHY = (
    "it is compiled against TensorFlow's C++ classes, and there are none here: ops are Python "
    "classes (intaglio.opdef.op), and kernels NumPy or machine code made when they run. Declare "
    "the op with @op, or call the library's functions through ctypes in a tf.numpy_function."
)


def load_op_library(library_filename: Any) -> Any:
    """Raises NotFoundError if there is no such file, else NotImplementedError: see the message.

    >>> tf.load_op_library("absent.so")
    Traceback (most recent call last):
    intaglio.base.errors.NotFoundError: absent.so: cannot open shared object file: No such file or directory
    """
    name = os.fspath(library_filename)
    if not os.path.exists(name):
        raise errors.NotFoundError(
            None, None, f"{name}: cannot open shared object file: No such file or directory"
        )
    raise NotImplementedError(f"{name} is not loaded: {_WHY}")


def load_library(library_location: Any) -> None:
    """Raises FileNotFoundError if there is no such file or folder, NotImplementedError for a library.

    A folder without libraries is accepted.

    >>> tf.load_library("absent")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] The file or folder to load kernel libraries from does not exist.: 'absent'
    """
    name = os.fspath(library_location)
    if not os.path.exists(name):
        raise FileNotFoundError(
            2, "The file or folder to load kernel libraries from does not exist.", name
        )
    if os.path.isdir(name) and not any(f.endswith(".so") for f in os.listdir(name)):
        return
    raise NotImplementedError(f"{name} is not loaded: {_WHY}")


@dispatchable
def check_pinned(tensor: Any, name: str | None = None) -> Any:
    """Raises FailedPreconditionError: memory is pinned for graphics cards, which are not used here.

    >>> tf.check_pinned([1.0])
    Traceback (most recent call last):
    intaglio.base.errors.FailedPreconditionError: to check pinnedness, a build for CUDA is needed; there is none here
    """
    to_tensor(tensor)
    raise errors.FailedPreconditionError(
        None, None, "to check pinnedness, a build for CUDA is needed; there is none here"
    )


__all__ = ["check_pinned", "load_library", "load_op_library"]
