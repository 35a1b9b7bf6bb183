"""`tf.distribute.cluster_resolver`: which processes a cluster has, and which of them this is.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/cluster_resolver.
"""

from __future__ import annotations

import enum
import json
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from intaglio.base import later
from intaglio.base.devices import list_logical_devices
from intaglio.distribute.clusters import ClusterSpec


def _address(master: str, rpc_layer: str | None) -> str:
    return f"{rpc_layer}://{master}" if rpc_layer and master else master or ""


class ClusterResolver:
    """What a cluster is made of. A base class: the subclasses say from where they know."""

    task_type: Any = None
    task_id: Any = None
    rpc_layer: Any = None

    def cluster_spec(self) -> ClusterSpec:
        """The jobs and their tasks' addresses."""
        raise NotImplementedError("cluster_spec is not implemented.")

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None
    ) -> str:
        """The address of a task, this one by default; "" in an empty cluster."""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        layer = self.rpc_layer if rpc_layer is None else rpc_layer
        if kind is None or number is None or not self.cluster_spec():
            return ""
        return _address(self.cluster_spec().task_address(kind, number), layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many accelerators of each type a task has: those of this process."""
        found: dict[str, int] = defaultdict(int)
        for device in list_logical_devices():
            if device.device_type != "CPU":
                found[device.device_type] += 1
        return found

    @property
    def environment(self) -> str:
        """Where the cluster runs: "", or "google"."""
        return ""


class SimpleClusterResolver(ClusterResolver):
    """A cluster as it is written down. Raises TypeError for what is no ClusterSpec."""

    def __init__(
        self,
        cluster_spec: Any,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        self._cluster_spec = cluster_spec
        self._master = master
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._environment = environment
        self._accelerators = num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster_spec

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None
    ) -> str:
        layer = rpc_layer or self.rpc_layer
        if task_type is not None and task_id is not None:
            return _address(self._cluster_spec.task_address(task_type, task_id), layer)
        return _address(self._master, layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        return {} if self._accelerators is None else self._accelerators

    @property
    def environment(self) -> str:
        return self._environment


class TFConfigClusterResolver(ClusterResolver):
    """The cluster of the environment variable `TF_CONFIG`; without it an empty one."""

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._own = {"type": task_type, "index": task_id}
        self._rpc_layer, self._environment = rpc_layer, environment

    @staticmethod
    def _config() -> dict[str, Any]:
        return json.loads(os.environ.get("TF_CONFIG", "{}"))

    def _of_task(self, key: str) -> Any:
        own = self._own[key]
        return self._config().get("task", {}).get(key) if own is None else own

    @property
    def task_type(self) -> Any:  # type: ignore[override]  # a field of the base class
        """The job of this task."""
        found = self._of_task("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: Any) -> None:
        self._own["type"] = task_type

    @property
    def task_id(self) -> Any:  # type: ignore[override]  # a field of the base class
        """The number of this task."""
        found = self._of_task("index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: Any) -> None:
        self._own["index"] = task_id

    @property
    def rpc_layer(self) -> Any:  # type: ignore[override]  # a field of the base class
        """The protocol before addresses."""
        own = self._rpc_layer
        return self._config().get("rpc_layer") if own is None else own

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: Any) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> Any:
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec(self._config().get("cluster", {}))


class UnionResolver(ClusterResolver):
    """Several clusters as one: their jobs together; the rest is the first one's.

    Raises ValueError without a resolver, TypeError for what is none, KeyError for a task twice.
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Any) -> None:
        for name in ("task_type", "task_id", "rpc_layer"):
            setattr(self, name, kwargs.pop(name, None))
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(a, ClusterResolver) for a in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args
        for name in ("task_type", "task_id", "rpc_layer"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(args[0], name))

    def cluster_spec(self) -> ClusterSpec:
        specs = [r.cluster_spec().as_dict() for r in self._resolvers]
        merged: dict[str, Any] = {}
        for job in dict.fromkeys([job for spec in specs for job in spec]):
            parts = [spec[job] for spec in specs if job in spec]
            if all(isinstance(part, list) for part in parts):
                merged[job] = [a for part in parts for a in part]
                continue
            tasks: dict[int, str] = {}
            for part in parts:
                own = dict(enumerate(part)) if isinstance(part, list) else part
                if twice := own.keys() & tasks.keys():
                    raise KeyError(
                        f"Duplicate keys detected when merging two ClusterSpecs: {set(twice)!r}"
                    )
                tasks |= own
            merged[job] = tasks
        return ClusterSpec(merged)

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None
    ) -> str:
        if task_type is not None and task_id is not None:
            return _address(
                self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer
            )
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self) -> str:
        return self._resolvers[0].environment


class TPUClusterResolver(ClusterResolver):
    """The workers of a TPU. There are no TPUs of TensorFlow here.

    Raises ValueError, as on a machine without one where no `tpu` is named, so that programs go on without;
    and NotImplementedError for the name of one.

    >>> try:
    ...     tf.distribute.cluster_resolver.TPUClusterResolver()
    ... except ValueError as error:
    ...     print(error)
    Please provide a TPU Name to connect to.
    """

    def __init__(
        self,
        tpu: Any = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        if not tpu:
            raise ValueError("Please provide a TPU Name to connect to.")
        raise NotImplementedError(
            f"tf.distribute.cluster_resolver.TPUClusterResolver: {tpu!r} is a TPU of TensorFlow's "
            "runtime; intaglio[xla] runs on TPUs that jax lists."
        )

    @staticmethod
    def connect(tpu: Any = None, zone: str | None = None, project: str | None = None) -> Any:
        """A resolver that is connected. Raises as the class does."""
        return TPUClusterResolver(tpu, zone, project)


class SlurmClusterResolver(ClusterResolver):
    """The cluster of a Slurm job step, from its environment variables.

    `jobs` are names and numbers of tasks, by default all tasks as workers. Raises RuntimeError if they need more
    tasks than there are.
    """

    def __init__(
        self,
        jobs: dict[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: Any = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ) -> None:
        self._rank = _slurm_number("PROCID")
        total = _slurm_number("STEP_NUM_TASKS")
        hosts = expanded_hosts(_slurm("STEP_NODELIST"))
        self._jobs = {"worker": total} if jobs is None else dict(sorted(jobs.items()))
        self._port_base = port_base
        if tasks_per_node is None and "SLURM_STEP_TASKS_PER_NODE" in os.environ:
            tasks_per_node = _expanded_counts(_slurm("STEP_TASKS_PER_NODE"))
        if tasks_per_node is None:
            tasks_per_node = -(-total // len(hosts))
        counts = (
            [tasks_per_node] * len(hosts) if isinstance(tasks_per_node, int) else tasks_per_node
        )
        self._addresses = [
            f"{host}:{port_base + i}"
            for host, count in zip(hosts, counts, strict=True)
            for i in range(count)
        ]
        if sum(self._jobs.values()) > len(self._addresses):
            raise RuntimeError(
                f"Requested {sum(self._jobs.values())} tasks but only {len(self._addresses)} were assigned."
            )
        self._gpus_per_task = gpus_per_task or 0
        self.rpc_layer = rpc_layer
        self.task_type, self.task_id = self.get_task_info()

    def cluster_spec(self) -> ClusterSpec:
        addresses = iter(self._addresses)
        return ClusterSpec({k: [next(addresses) for _ in range(n)] for k, n in self._jobs.items()})

    def get_task_info(self) -> tuple[Any, Any]:
        """The job and number of this task; None for a task that no job has."""
        number = self._rank
        for job, count in self._jobs.items():
            if number < count:
                return job, number
            number -= count
        return None, None

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        return {"GPU": self._gpus_per_task}


def _slurm(name: str) -> str:
    found = os.environ.get(f"SLURM_{name}")
    if found is None:
        raise RuntimeError(
            f"SLURM_{name} is not found in the environment. This process was not started by "
            "Slurm: start it with srun, or use TFConfigClusterResolver."
        )
    return found


def _slurm_number(name: str) -> int:
    return int(_slurm(name))


def _expanded_counts(text: str) -> list[int]:
    """Numbers of tasks by node: "2(x3),1" is [2, 2, 2, 1]."""
    result: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if found is None:
            raise ValueError(f'Invalid tasks-per-node list format "{text}": Invalid part: {part}')
        result += [int(found[1])] * int(found[2] or 1)
    return result


def expanded_hosts(text: str) -> list[str]:
    """Names of nodes: "a[001-003,7],b5" is a001, a002, a003, a7, b5. Raises ValueError."""
    result: list[str] = []
    for part in re.split(r",(?![^\[]*\])", text):
        found = re.fullmatch(r"([^\[\],]+)(?:\[([\d,-]+)\])?", part)
        if found is None:
            raise ValueError(f'Invalid hostlist format "{text}": Invalid part: {part}')
        if found[2] is None:
            result.append(part)
            continue
        for numbers in found[2].split(","):
            low, _, high = numbers.partition("-")
            result += [f"{found[1]}{i:0{len(low)}d}" for i in range(int(low), int(high or low) + 1)]
    return result


class KubernetesExecutableLocation(enum.Enum):
    """Whether the program runs in the Kubernetes cluster or outside of it."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(ClusterResolver):
    """The pods of a Kubernetes cluster that have the labels of a job.

    Needs the package `kubernetes`, or a client of its kind as `override_client`: else ImportError.
    Raises RuntimeError for a pod that is not running.
    """

    def __init__(
        self,
        job_to_label_mapping: dict[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str = "grpc",
        override_client: Any = None,
        executable_location: Any = KubernetesExecutableLocation.WITHIN_CLUSTER,
    ) -> None:
        if executable_location not in KubernetesExecutableLocation:
            raise ValueError("The executable location provided is invalid.")
        self._client = override_client or _kubernetes_client(executable_location)
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The addresses of the pods, in the order of their names."""
        jobs: dict[str, list[str]] = {}
        for job, labels in self._labels.items():
            addresses: list[str] = []
            for label in labels:
                pods = self._client.list_pod_for_all_namespaces(label_selector=label).items
                for pod in sorted(pods, key=lambda p: p.metadata.name):
                    if pod.status.phase != "Running":
                        raise RuntimeError(
                            f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"'
                        )
                    addresses.append(f"{pod.status.pod_ip}:{self._port}")
            jobs[job] = addresses
        return ClusterSpec(jobs)

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None
    ) -> str:
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if kind is None or number is None:
            return ""
        return super().master(kind, number, rpc_layer)


def _kubernetes_client(location: Any) -> Any:
    try:
        package = later.named("kubernetes")
        client, config = later.named("kubernetes.client:CoreV1Api"), package.config
    except ImportError as e:
        raise ImportError(
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster "
            "Resolver. To install it, run `pip install kubernetes` on your command line."
        ) from e
    if location is KubernetesExecutableLocation.OFF_CLUSTER:
        config.load_kube_config()
    else:
        config.load_incluster_config()
    return client()


class GCEClusterResolver(ClusterResolver):
    """The running machines of an instance group of Google Compute Engine.

    Needs the package `google-api-python-client`, or a `service` of its kind: else ImportError.
    """

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        self._where = {"project": project, "zone": zone}
        self._group, self._port = instance_group, port
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._service = service or _compute_service(credentials)

    def cluster_spec(self) -> ClusterSpec:
        """The addresses of the machines, in the order of their names."""
        groups, instances = self._service.instanceGroups(), self._service.instances()
        body = {"instanceState": "RUNNING"}
        request = groups.listInstances(
            **self._where, instanceGroups=self._group, body=body, orderBy="name"
        )
        addresses: list[str] = []
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                name = item["instance"].split("/")[-1]
                machine = instances.get(**self._where, instance=name).execute()
                if machine["status"] == "RUNNING":
                    addresses.append(f"{machine['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(
                previous_request=request, previous_response=response
            )
        return ClusterSpec(
            {self.task_type: sorted(addresses)} if addresses else {self.task_type: []}
        )


def _compute_service(credentials: Any) -> Any:
    try:
        discovery = later.named("googleapiclient.discovery")
    except ImportError as e:
        raise ImportError(
            "googleapiclient must be installed before using the GCE cluster resolver: "
            "pip install google-api-python-client"
        ) from e
    options = {} if credentials in ("default", None) else {"credentials": credentials}
    return discovery.build("compute", "v1", **options)


__all__ = [
    "ClusterResolver",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "KubernetesExecutableLocation",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "UnionResolver",
]
