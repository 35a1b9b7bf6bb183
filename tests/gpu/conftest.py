"""A GPU for tests: the machine's, or a device that XLA has on the host under its name.

All that runs on a GPU goes the same way on the host under that name: tensors that are arrays of jax, ops and
functions that are programs, variables that are donated. What only a GPU has is skipped without one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from intaglio import tf, xla
from intaglio.base.devices import reset_devices

GPU = "/GPU:0"
NAME = "/job:localhost/replica:0/task:0/device:GPU:0"
HOST = "/job:localhost/replica:0/task:0/device:CPU:0"
NO_GPU = "no GPU: jax lists only the host (pip install 'jax[cuda13]' on a machine with one)"


@pytest.fixture(autouse=True)
def gpu() -> Iterator[str]:
    """The name of the first GPU, or of the device in its place."""
    if xla.accelerators():
        reset_devices()
        # Products with all digits: TensorFloat-32 has three.
        tf.config.experimental.enable_tensor_float_32_execution(False)
        yield GPU
        tf.config.experimental.enable_tensor_float_32_execution(True)
        return
    with xla.host_as("GPU"):
        yield GPU


@pytest.fixture
def real_gpu(gpu: str) -> str:
    """The same, where it is a GPU."""
    if xla.stand_ins():
        pytest.skip(NO_GPU)
    return gpu
