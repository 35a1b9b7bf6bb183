"""Testing: `tf.test`.

Follows https://www.tensorflow.org/api_docs/python/tf/test.
"""

from intaglio.testing.benchmark import Benchmark, benchmark_config
from intaglio.testing.case import TestCase
from intaglio.testing.gradients import compute_gradient
from intaglio.testing.machine import (
    assert_equal_graph_def,
    create_local_cluster,
    disable_with_predicate,
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_built_with_xla,
    is_cpu_target_available,
    is_gpu_available,
    main,
    with_eager_op_as_function,
)
from intaglio.tf.test import experimental

__all__ = [
    "Benchmark",
    "TestCase",
    "assert_equal_graph_def",
    "benchmark_config",
    "compute_gradient",
    "create_local_cluster",
    "disable_with_predicate",
    "experimental",
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
