"""Writes down what TensorFlow's steps of rows, and later ones of variables, do: `training_rows.json`.

path/to/python-with-tensorflow -m tests.ops.record_training_rows
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

_RATES = {"lr": 0.1, "l1": 0.05, "l2": 0.02}
_MEANS = {"lr": 0.1, "rho": 0.9, "epsilon": 1e-5}
# op, slots besides the variable, scalars, attributes
STEPS: list[tuple[str, list[str], dict[str, float], dict[str, bool]]] = [
    ("Adagrad", ["accum"], {"lr": 0.1}, {}),
    ("Adagrad", ["accum"], {"lr": 0.1}, {"update_slots": False}),
    ("AdagradV2", ["accum"], {"lr": 0.1, "epsilon": 1e-3}, {}),
    ("Adadelta", ["accum", "accum_update"], _MEANS, {}),
    ("RMSProp", ["ms", "mom"], {**_MEANS, "momentum": 0.5}, {}),
    ("CenteredRMSProp", ["mg", "ms", "mom"], {**_MEANS, "momentum": 0.5}, {}),
    ("Ftrl", ["accum", "linear"], {**_RATES, "lr_power": -0.5}, {}),
    ("Ftrl", ["accum", "linear"], {**_RATES, "lr_power": -0.5}, {"multiply_linear_by_lr": True}),
    ("FtrlV2", ["accum", "linear"], {**_RATES, "l2_shrinkage": 0.1, "lr_power": -0.5}, {}),
    ("ProximalGradientDescent", [], {"alpha": 0.1, "l1": 0.05, "l2": 0.02}, {}),
    ("ProximalAdagrad", ["accum"], _RATES, {}),
    (
        "AdagradDA",
        ["gradient_accumulator", "gradient_squared_accumulator"],
        {**_RATES, "global_step": 3},
        {},
    ),
]


_POWERS = {"beta1_power": 0.9, "beta2_power": 0.99}
_DECAYS = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-5}
_SIGNS = {"lr": 0.1, "sign_decay": 0.7, "beta": 0.9}
# Those that TensorFlow has of whole variables only.
WHOLE: list[tuple[str, list[str], dict[str, float], dict[str, bool]]] = [
    ("AdamWithAmsgrad", ["m", "v", "vhat"], {**_POWERS, **_DECAYS}, {}),
    ("AddSign", ["m"], {**_SIGNS, "alpha": 1.1}, {}),
    ("PowerSign", ["m"], {**_SIGNS, "logbase": 1.3}, {}),
]


def case(op: str, names: list[str], scalars: Any, attrs: Any, rows: bool) -> dict[str, Any]:
    """One step with TensorFlow's answers."""
    numbers = np.random.RandomState(len(op))
    slots = {n: numbers.uniform(0.5, 3.0, (4, 2)).astype("f") for n in ["var", *names]}
    if "m" in slots:  # averages of both signs, some of them unlike the gradient's
        slots["m"] = numbers.randn(4, 2).astype("f")
    if "mg" in slots:
        slots["mg"] *= 0.1
    gradient = numbers.randn(2 if rows else 4, 2).astype("f")
    indices = [3, 1] if rows else None
    variables = {n: tf.Variable(v) for n, v in slots.items()}
    inputs = {n: v.handle for n, v in variables.items()}
    inputs |= {
        n: tf.constant(v, "int64" if n == "global_step" else "float32") for n, v in scalars.items()
    }
    inputs |= {"grad": gradient} if indices is None else {"grad": gradient, "indices": indices}
    full = f"Resource{'Sparse' if rows else ''}Apply{op}"
    getattr(tf.raw_ops, full)(**inputs, **attrs)
    return {
        "op": full,
        "slots": {n: v.tolist() for n, v in slots.items()},
        "scalars": scalars,
        "attrs": attrs,
        "indices": indices,
        "grad": ["grad", gradient.tolist()],
        "answers": [v.numpy().tolist() for v in variables.values()],
    }


def main() -> None:
    """Writes the file."""
    found = [case(*step, rows=True) for step in STEPS]
    found += [case(*s, rows=False) for s in STEPS if s[0] in ("ProximalAdagrad", "AdagradDA")]
    found += [case(*s, rows=False) for s in WHOLE]
    lines = ",\n".join(map(json.dumps, found))
    path = Path(__file__).with_name("training_rows.json")
    path.write_text(f'{{"tensorflow": "{tf.__version__}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
