"""Tests under several strategies: `tf.__internal__.distribute.combinations`.

The tests of a process run on its logical devices. One that needs more of them, other kinds of devices or other
processes is skipped, as TensorFlow does where these are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from intaglio.base.devices import list_logical_devices
from intaglio.distribute.contexts import get_strategy
from intaglio.distribute.mirrored import MirroredStrategy, OneDeviceStrategy
from intaglio.testing import combinations as testing
from intaglio.testing.combinations import TestCombination

_CPU = "/cpu:0"


class NamedDistribution:
    """A strategy by name: `strategy` makes it, or raises a skip where devices are missing."""

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_tpu: bool = False,
        has_chief: bool = False,
        num_workers: int = 1,
        num_ps: int = 0,
        missing: str = "",
        cpus: int = 1,
    ) -> None:
        self._name = name
        self._distribution_fn = distribution_fn
        self.required_gpus = required_gpus
        self.required_physical_gpus = 0
        self.required_tpu = required_tpu
        self.use_cloud_tpu = False
        self.has_chief = has_chief
        self.num_workers = num_workers
        self.num_ps = num_ps
        self.share_gpu = True
        self.no_xla = False
        self._missing = missing
        self._cpus = cpus

    @property
    def runner(self) -> None:
        """What runs the test in several processes: there is none."""

    @property
    def missing(self) -> str:
        """What the strategy needs and this process does not have; empty if it has all."""
        count = len(list_logical_devices("CPU")) if self._cpus > 1 else 1
        return self._missing or (_CPUS.format(self._cpus, count) if count < self._cpus else "")

    @property
    def strategy(self) -> Any:
        """A new strategy."""
        return self._distribution_fn()

    def __repr__(self) -> str:
        return self._name


def _absent(name: str, missing: str, **options: Any) -> NamedDistribution:
    """A strategy for devices or processes that are not there."""
    return NamedDistribution(name, get_strategy, missing=missing, **options)


_GPUS = "Test requires {} GPUs, which this machine does not have"
_TPU = "Test requires a TPU, and it's not available."
_PROCESSES = "Test requires several processes, and there is one"
_CPUS = "Test requires {} logical CPUs, and there are {}"


def _mirrored(name: str, devices: list[str], cpus: int) -> NamedDistribution:
    """Replicas on logical CPUs of the host."""
    return NamedDistribution(name, lambda: MirroredStrategy(devices), required_gpus=0, cpus=cpus)


default_strategy = NamedDistribution("Default", get_strategy)
one_device_strategy = NamedDistribution("OneDeviceCPU", lambda: OneDeviceStrategy(_CPU))
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", lambda: MirroredStrategy([_CPU]))
one_device_strategy_gpu = _absent("OneDeviceGPU", _GPUS.format(1), required_gpus=1)
mirrored_strategy_with_one_gpu = _absent("Mirrored1GPU", _GPUS.format(1), required_gpus=1)
mirrored_strategy_with_gpu_and_cpu = _absent("MirroredCPUAndGPU", _GPUS.format(1), required_gpus=1)
mirrored_strategy_with_two_gpus = _absent("Mirrored2GPUs", _GPUS.format(2), required_gpus=2)
mirrored_strategy_with_two_gpus_no_merge_call = _absent(
    "Mirrored2GPUsNoMergeCall", _GPUS.format(2), required_gpus=2
)
mirrored_strategy_with_two_cpus = _mirrored("Mirrored2CPUs", ["/cpu:0", "/cpu:1"], 2)
mirrored_strategy_with_cpu_1_and_2 = _mirrored("Mirrored2CPU", ["/cpu:1", "/cpu:2"], 3)
central_storage_strategy_with_two_gpus = _absent(
    "CentralStorage2GPUs", _GPUS.format(2), required_gpus=2
)
central_storage_strategy_with_gpu_and_cpu = _absent(
    "CentralStorageCPUAndGPU", _GPUS.format(1), required_gpus=1
)
tpu_strategy = _absent("TPU", _TPU, required_tpu=True)
tpu_strategy_packed_var = _absent("TPUPackedVar", _TPU, required_tpu=True)
tpu_strategy_one_core = _absent("TPUOneCore", _TPU, required_tpu=True)
cloud_tpu_strategy = _absent("CloudTPU", _TPU, required_tpu=True)
multi_worker_mirrored_2x1_cpu = _absent("MultiWorkerMirrored2x1CPU", _PROCESSES, has_chief=True)
multi_worker_mirrored_2x1_gpu = _absent("MultiWorkerMirrored2x1GPU", _PROCESSES, has_chief=True)
multi_worker_mirrored_2x1_gpu_noshare = _absent(
    "MultiWorkerMirrored2x1GPUNoShare", _PROCESSES, has_chief=True
)
multi_worker_mirrored_2x2_gpu = _absent("MultiWorkerMirrored2x2GPU", _PROCESSES, has_chief=True)
multi_worker_mirrored_2x2_gpu_no_merge_call = _absent(
    "MultiWorkerMirrored2x2GPUNoMergeCall", _PROCESSES, has_chief=True
)
parameter_server_strategy_1worker_2ps_cpu = _absent(
    "ParameterServer1Worker2PSCPU", _PROCESSES, has_chief=True, num_ps=2
)
parameter_server_strategy_1worker_2ps_1gpu = _absent(
    "ParameterServer1Worker2PS1GPU", _PROCESSES, has_chief=True, num_ps=2
)
parameter_server_strategy_3worker_2ps_cpu = _absent(
    "ParameterServer3Worker2PSCPU", _PROCESSES, has_chief=True, num_ps=2
)
parameter_server_strategy_3worker_2ps_1gpu = _absent(
    "ParameterServer3Worker2PS1GPU", _PROCESSES, has_chief=True, num_ps=2
)


class _Devices(TestCombination):
    """Skips tests whose strategies need devices that are missing."""

    def should_execute_combination(self, kwargs: Any) -> tuple[bool, str | None]:
        """False if a strategy, or `required_gpus`, asks for what there is not."""
        for value in kwargs.values():
            if isinstance(value, NamedDistribution) and value.missing:
                return False, value.missing
        gpus = kwargs.get("required_gpus") or kwargs.get("required_physical_gpus")
        if gpus:
            return False, _GPUS.format(gpus)
        if kwargs.get("required_tpu") or kwargs.get("use_cloud_tpu"):
            return False, _TPU
        if (kwargs.get("num_workers") or 1) > 1 or kwargs.get("num_ps"):
            return False, _PROCESSES
        return True, None

    def parameter_modifiers(self) -> list[Any]:
        """Tests get strategies, and need not take what machines must have."""
        names = [
            "has_chief",
            "num_workers",
            "num_ps",
            "required_gpus",
            "required_physical_gpus",
            "required_tpu",
            "runner",
            "share_gpu",
            "use_cloud_tpu",
            "use_var_policy",
            "use_single_process",
            "variable_policy",
        ]
        return [_Strategies(), *map(testing.OptionalParameter, names)]


class _Strategies(testing.ParameterModifier):
    def modified_arguments(self, kwargs: Any, requested_parameters: Sequence[str]) -> Any:
        """Strategies instead of their names."""
        return {k: v.strategy for k, v in kwargs.items() if isinstance(v, NamedDistribution)}


def generate(
    combinations: Iterable[Any], test_combinations: Sequence[TestCombination] = ()
) -> Callable[[Any], Any]:
    """As `test.combinations.generate`, with parameters that are strategies."""
    defaults = testing.generate.keywords["test_combinations"]
    return testing.generate(
        combinations, test_combinations=(*defaults, _Devices(), *test_combinations)
    )


def in_main_process() -> bool:
    """True: there is one process."""
    return True


class _Environment:
    """What the processes of a test share."""

    tf_data_service_dispatcher = None


def env() -> _Environment:
    """The environment of the test."""
    return _Environment()
