"""Cluster resolvers: what they say of clusters in the environment, written down, and together."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

CLUSTER = {"worker": ["a:1", "b:2"], "chief": ["c:3"]}


def main(tf: Any, say: Callable[..., None]) -> None:
    resolvers = tf.distribute.cluster_resolver
    _tf_config(tf, say)
    simple = resolvers.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["x:1", "y:2"]}),
        master="m:1",
        task_type="worker",
        task_id=1,
        environment="e",
        rpc_layer="grpc",
        num_accelerators={"GPU": 2},
    )
    say("simple", lambda: _told(simple))
    say("simple, of a task", lambda: simple.master("worker", 0))
    say("no spec", lambda: resolvers.SimpleClusterResolver({"a": ["b"]}))
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": CLUSTER, "task": {"type": "chief", "index": 0}}
    )
    union = resolvers.UnionResolver(resolvers.TFConfigClusterResolver(), simple)
    say("union", lambda: _told(union)[:-1])
    say("union, of a task", lambda: union.master("worker", 3))
    say("union of nothing", resolvers.UnionResolver)
    say("union of a number", lambda: resolvers.UnionResolver(5))

    def sparse(address: str) -> Any:
        return resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"worker": {1: address}}))

    say(
        "union of one task twice",
        lambda: resolvers.UnionResolver(sparse("x:1"), sparse("z:1")).cluster_spec(),
    )
    _slurm(tf, say)
    say("locations", lambda: [(k.name, k.value) for k in resolvers.KubernetesExecutableLocation])
    _strategies(tf, say)


def _told(resolver: Any) -> list[Any]:
    return [
        resolver.cluster_spec(), resolver.master(), resolver.task_type, resolver.task_id,
        resolver.rpc_layer, resolver.environment, dict(resolver.num_accelerators()),
    ]  # fmt: skip


def _tf_config(tf: Any, say: Callable[..., None]) -> None:
    kind = tf.distribute.cluster_resolver.TFConfigClusterResolver
    os.environ.pop("TF_CONFIG", None)
    say("without", lambda: _told(kind()))
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": CLUSTER, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc"}
    )
    resolver = kind()
    say("TF_CONFIG", lambda: _told(resolver))
    say(
        "of a task",
        lambda: (resolver.master("chief", 0), resolver.master("worker", 0, rpc_layer="")),
    )
    say("of no task", lambda: resolver.master("worker", 7))
    say(
        "overridden",
        lambda: _told(kind(task_type="chief", task_id=0, rpc_layer="x", environment="y")),
    )


def _slurm(tf: Any, say: Callable[..., None]) -> None:
    kind = tf.distribute.cluster_resolver.SlurmClusterResolver
    os.environ.update(
        SLURM_STEP_NUM_TASKS="4", SLURM_STEP_NODELIST="n[1-2]", SLURM_STEP_TASKS_PER_NODE="2(x2)",
        SLURM_PROCID="3", SLURM_LOCALID="1", SLURM_NTASKS="4",
    )  # fmt: skip
    fixed = {"gpus_per_node": 2, "gpus_per_task": 1, "auto_set_gpu": False}

    def told(*args: Any, **options: Any) -> Any:
        resolver = kind(*args, **{**fixed, **options})
        return resolver.cluster_spec(), resolver.get_task_info(), resolver.master()

    say("slurm", told)
    say("slurm jobs", lambda: told({"worker": 3, "ps": 1}, port_base=5000, rpc_layer="x"))
    say("slurm, too many", lambda: told({"worker": 5}))
    for nodes, counts in (
        ("n1,n2", "2(x2)"), ("a[001-003,7]", "1(x4)"), ("a[1-2],b5", "2,1(x2)"), ("a[1-2]x", "2(x2)"),
    ):  # fmt: skip
        os.environ.update(SLURM_STEP_NODELIST=nodes, SLURM_STEP_TASKS_PER_NODE=counts)
        say(f"slurm {nodes} {counts}", told)


def _strategies(tf: Any, say: Callable[..., None]) -> None:
    strategy = tf.distribute.MultiWorkerMirroredStrategy
    cluster = {"worker": ["a:1", "b:2"]}
    for name, task in {
        "index": {"type": "worker", "index": 5}, "type": {"type": "foo", "index": 0}, "none": None,
    }.items():  # fmt: skip
        config = {"cluster": cluster} if task is None else {"cluster": cluster, "task": task}
        os.environ["TF_CONFIG"] = json.dumps(config)
        say(f"wrong {name}", strategy)
    del os.environ["TF_CONFIG"]
    say("alone", lambda: strategy().num_replicas_in_sync)
    say("alone, mode", lambda: strategy().extended._in_multi_worker_mode())
    say(
        "alone, sum",
        lambda: strategy().reduce("MEAN", strategy().run(lambda: tf.constant(2.0)), axis=None),
    )
