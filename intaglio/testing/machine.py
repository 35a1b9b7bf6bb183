"""What the build has, and running tests: `tf.test`.

Follows https://www.tensorflow.org/api_docs/python/tf/test.
"""

from __future__ import annotations

import platform
import unittest
from collections.abc import Callable
from typing import Any

from intaglio.graphdef.declarations import as_text


def is_built_with_cuda() -> bool:
    """False: nothing here runs on such a device.

    >>> tf.test.is_built_with_cuda()
    False
    """
    return False


def is_built_with_gpu_support() -> bool:
    """False: nothing here runs on such a device.

    >>> tf.test.is_built_with_gpu_support()
    False
    """
    return False


def is_built_with_rocm() -> bool:
    """False: nothing here runs on such a device.

    >>> tf.test.is_built_with_rocm()
    False
    """
    return False


def is_built_with_xla() -> bool:
    """False: XLA is no part of this package.

    >>> tf.test.is_built_with_xla()
    False
    """
    return False


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """False: the host is the only device.

    `cuda_only` and `min_cuda_compute_capability` have no effect.

    >>> tf.test.is_gpu_available()
    False
    """
    return False


def gpu_device_name() -> str:
    """The empty text: the host is the only device.

    >>> tf.test.gpu_device_name()
    ''
    """
    return ""


def is_cpu_target_available(target: str) -> bool:
    """Whether machine code for that kind of processor ("x86", "arm", ...) runs here.

    >>> tf.test.is_cpu_target_available("system_z")
    False
    """
    names = {"x86_64": "x86", "amd64": "x86", "aarch64": "arm", "arm64": "arm"}
    machine = platform.machine().lower()
    return target.lower() in (machine, names.get(machine, machine))


def disable_with_predicate(
    pred: Callable[[], bool], skip_message: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a test method: it is skipped, with the message, where `pred()` is true.

    >>> @tf.test.disable_with_predicate(lambda: True, "not here")
    ... def test(self): pass
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return method(self, *args, **kwargs)

        call.__name__, call.__doc__ = method.__name__, method.__doc__
        return call

    return decorate


def with_eager_op_as_function(cls: type[Any] | None = None, only_as_function: bool = False) -> Any:
    """The class as it is: there is only one mode of eager execution.

    `cls` is the class of tests; `only_as_function` has no effect.

    >>> tf.test.with_eager_op_as_function(int)
    <class 'int'>
    """
    return cls if cls is not None else (lambda cls: cls)


def assert_equal_graph_def(expected: Any, actual: Any) -> None:
    """Raises AssertionError unless two GraphDefs have the same nodes, in any order.

    >>> empty = tf.Graph().as_graph_def()
    >>> tf.test.assert_equal_graph_def(empty, empty)
    """
    for name, value in (("expected", expected), ("actual", actual)):
        if not hasattr(value, "node"):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(value).__name__}")
    actual_nodes, expected_nodes = (
        {n.name: as_text(n) for n in g.node} for g in (actual, expected)
    )
    differing = sorted(
        n for n in {*actual_nodes, *expected_nodes} if actual_nodes.get(n) != expected_nodes.get(n)
    )
    if differing:
        first = differing[0]
        raise AssertionError(
            f"{len(differing)} nodes differ, the first of them {first}:\n"
            f"expected:\n{expected_nodes.get(first, 'no such node')}\n"
            f"actual:\n{actual_nodes.get(first, 'no such node')}"
        )


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> Any:
    """Not done: raises NotImplementedError, because one process does all the work.

    >>> tf.test.create_local_cluster(1, 1)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    NotImplementedError: there is one process
    """
    raise NotImplementedError(
        "tf.test.create_local_cluster: there are no servers; programs run in one process"
    )


def main(argv: Any = None) -> None:
    """Runs the tests of the module that is the program, as `unittest.main` does.

    `argv` are the arguments of the command line, by default the program's.

    >>> if __name__ == "__main__":
    ...     tf.test.main()
    """
    unittest.main(argv=argv)


__all__ = [
    "assert_equal_graph_def",
    "create_local_cluster",
    "disable_with_predicate",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_cpu_target_available",
    "is_gpu_available",
    "main",
    "with_eager_op_as_function",
]
