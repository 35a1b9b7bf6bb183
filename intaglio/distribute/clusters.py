"""Names of the processes of a cluster, of `tf.train`.

Follows https://www.tensorflow.org/api_docs/python/tf/train/ClusterSpec. A description only:
no process is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intaglio.graphdef.cluster_messages import ClusterDef, JobDef, ServerDef


class ClusterSpec:
    """Jobs, each with tasks at addresses.

    `cluster` is a dict from names of jobs to lists of addresses, or to dicts from numbers of
    tasks to addresses; or a ClusterDef, or another ClusterSpec. Raises TypeError for others.

    >>> cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "c:3"}})
    >>> cluster.num_tasks("worker"), cluster.task_address("ps", 3)
    (2, 'c:3')
    """

    def __init__(self, cluster: Any) -> None:
        self._tasks: dict[str, dict[int, str]]
        if isinstance(cluster, ClusterSpec):
            self._tasks = {job: dict(tasks) for job, tasks in cluster._tasks.items()}
        elif isinstance(cluster, ClusterDef):
            self._tasks = {job.name: dict(job.tasks) for job in cluster.job}
        elif isinstance(cluster, Mapping):
            self._tasks = {job: _numbered(job, tasks) for job, tasks in cluster.items()}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of "
                "network addresses, or a `ClusterDef` protocol buffer"
            )

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: Any) -> bool:
        return self._tasks == ClusterSpec(other)._tasks

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        found = self.as_dict()
        inner = ", ".join(f"{job!r}: {found[job]!r}" for job in sorted(found))
        return f"ClusterSpec({{{inner}}})"

    def as_dict(self) -> dict[str, Any]:
        """The jobs as lists of addresses, or as dicts where numbers of tasks are left out."""
        return {
            job: [tasks[i] for i in range(len(tasks))]
            if sorted(tasks) == list(range(len(tasks)))
            else dict(tasks)
            for job, tasks in self._tasks.items()
        }

    def as_cluster_def(self) -> Any:
        """The cluster as a ClusterDef message."""
        result = ClusterDef()
        for job in sorted(self._tasks):
            entry = result.job.add(name=job)
            for number in sorted(self._tasks[job]):
                entry.tasks[number] = self._tasks[job][number]
        return result

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._tasks)

    def _of(self, job_name: str) -> dict[int, str]:
        if job_name not in self._tasks:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._tasks[job_name]

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has. Raises ValueError if there is no such job."""
        return len(self._of(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of a job's tasks. Raises ValueError if there is no such job."""
        return sorted(self._of(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task. Raises ValueError if there is no such job or task."""
        tasks = self._of(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses by number, None where there is no task; ValueError if there is no such job."""
        tasks = self._of(job_name)
        return [tasks.get(i) for i in range(max(tasks) + 1)] if tasks else []


def _numbered(job: str, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, Mapping):
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
        )
    found: dict[int, str] = {}
    for number, address in tasks.items():
        if not isinstance(address, (str, bytes)):
            raise TypeError(f"Task address {address!r} must be bytes or unicode")
        found[int(number)] = address if isinstance(address, str) else address.decode()
    return found


__all__ = ["ClusterDef", "ClusterSpec", "JobDef", "ServerDef"]
