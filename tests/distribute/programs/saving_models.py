"""Saved models of variables with copies on logical CPUs, loaded under strategies with as many, more and no replicas."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

from tests.distribute.programs import saving


def main(tf: Any, say: Callable[..., None]) -> None:
    saving.divide(tf)
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, 2, 3):
            strategy = saving.strategy_of(tf, count)
            kept = _Kept(tf, strategy)
            saving.fill(tf, strategy, kept.variables)
            path = os.path.join(folder, str(count))
            _saved(tf, say, kept, f"{count}", path)
            for on in (0, 2, 3):
                _loaded(tf, say, kept, f"{count} on {on}", path, on)


class _Kept:
    """A module with variables of each kind and functions that read and write them."""

    def __init__(self, tf: Any, strategy: Any) -> None:
        self.module = tf.Module()
        self.variables = kept = saving.variables_of(tf, strategy)
        for name, variable in kept.items():
            setattr(self.module, name, variable)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def read(x: Any) -> Any:
            return {n: v * tf.cast(x, v.dtype) for n, v in kept.items()}

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def write(x: Any) -> Any:
            for v in kept.values():
                v.assign(tf.cast(x, v.dtype))
            return kept["ON_WRITE_SUM_float32"].read_value()

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def run(x: Any) -> Any:
            def step() -> Any:
                return kept["ON_WRITE_SUM_float32"] + kept["ON_READ_SUM_float32"] + x

            return strategy.reduce("SUM", strategy.run(step), axis=None)

        self.module.read, self.module.write, self.module.run = read, write, run


def _saved(tf: Any, say: Callable[..., None], kept: _Kept, name: str, path: str) -> None:
    say(f"{name}: read", lambda: _listed(kept.module.read(2.0)))
    say(f"{name}: run", lambda: kept.module.run(tf.ones([2])).numpy().tolist())
    tf.saved_model.save(kept.module, path, signatures=kept.module.read)
    say(f"{name}: kept", lambda: saving.shown(kept.variables))
    say(f"{name}: read after", lambda: _listed(kept.module.read(2.0)))
    say(f"{name}: keys", lambda: tf.train.list_variables(f"{path}/variables/variables"))


def _loaded(
    tf: Any, say: Callable[..., None], kept: _Kept, name: str, path: str, replicas: int
) -> None:
    with saving.scope_of(saving.strategy_of(tf, replicas)):
        loaded = tf.saved_model.load(path)
    found = {n: getattr(loaded, n) for n in kept.variables}
    say(f"{name}: values", lambda: saving.shown(found))
    say(f"{name}: kinds", lambda: {n: _kind(v) for n, v in found.items()})
    say(f"{name}: read", lambda: _listed(loaded.read(2.0)))
    say(f"{name}: run", lambda: loaded.run(tf.ones([2])).numpy().tolist())
    say(
        f"{name}: signature",
        lambda: _listed(loaded.signatures["serving_default"](x=tf.constant(2.0))),
    )
    say(f"{name}: write", lambda: loaded.write(tf.constant([4.0, 6.0])).numpy().tolist())
    say(f"{name}: written", lambda: saving.shown(found))


def _kind(variable: Any) -> tuple[str, str, bool]:
    return variable.aggregation.name, variable.synchronization.name, variable.trainable


def _listed(found: dict[str, Any]) -> dict[str, Any]:
    return {n: v.numpy().tolist() for n, v in sorted(found.items())}
