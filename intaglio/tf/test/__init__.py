"""Testing: `tf.test`.

Follows https://www.tensorflow.org/api_docs/python/tf/test.
"""

from intaglio.tf.test import experimental
from intaglio.tf.test.benchmark import Benchmark, benchmark_config
from intaglio.tf.test.case import TestCase
from intaglio.tf.test.gradients import compute_gradient
from intaglio.tf.test.machine import (
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
