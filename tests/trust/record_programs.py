"""Records what TensorFlow computes for random programs.

    python -m tests.trust.record_programs draw programs.json --count 2000
    python tests/trust/record_programs.py answer programs.json        (with tensorflow-cpu 2.21)
    python -m tests.trust.record_programs keep programs.json          (writes programs.json.gz)

`draw` needs Intaglio and not TensorFlow, `answer` the opposite. Arrays are JSON as dtype, shape and
the bytes in base 64. What TensorFlow refuses is kept with the class of its error.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import gzip
import json
import pathlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from trust import verdicts

KEPT = pathlib.Path(__file__).parent / "programs.json.gz"
MAX_RESULT_ELEMENTS = 60
CALLS = (0, 1)


def encoded(array: np.ndarray[Any, Any]) -> list[Any]:
    """An array as JSON."""
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [array.dtype.name, list(array.shape), data]


def decoded(value: list[Any], tf: Any) -> np.ndarray[Any, Any]:
    """The array; `tf` knows dtypes that NumPy does not."""
    name, shape, data = value
    dtype = tf.as_dtype(name).as_numpy_dtype
    return np.frombuffer(base64.b64decode(data), dtype).reshape(shape)


def drawn(count: int, first: int) -> list[dict[str, Any]]:
    """Programs that run eagerly, with sources that need nothing but `tf` and `np`."""
    import inspect

    from trust import generator, programs

    helpers = inspect.getsource(programs.like) + "\n\n" + inspect.getsource(programs.whole)
    found: list[dict[str, Any]] = []
    for seed in range(first, first + count):
        program = generator.Draw(seed, 3 + seed % 8).program()
        found.append(
            {
                "seed": seed,
                "source": program.source(),
                "helpers": helpers,
                "inputs": [[encoded(a) for a in call] for call in program.inputs[:2]],
                "variables": {n: encoded(a) for n, a in program.variables.items()},
                "constants": {n: encoded(a) for n, a in program.constants.items()},
            }
        )
    return found


def outcomes(tf: Any, program: dict[str, Any], noise: verdicts.Noise | None = None) -> list[Any]:
    """What the calls of a program give: lists of arrays, or an exception.

    `noise` perturbs what the program is given, and what its ops give.
    """
    given = noise.scaled if noise else lambda x: x
    space: dict[str, Any] = {"tf": tf, "np": np, "wrapped": lambda f: f, "Any": Any}
    space["compiled"] = space["wrapped"]
    exec(program["helpers"], space)
    constants = {n: given(tf.constant(decoded(a, tf))) for n, a in program["constants"].items()}
    starts = {n: given(tf.constant(decoded(a, tf))) for n, a in program["variables"].items()}
    variables = {n: tf.Variable(a) for n, a in starts.items()}
    space |= {**constants, **variables}
    exec(program["source"], space)
    found: list[Any] = []
    for call in program["inputs"]:
        try:
            arguments = [given(tf.constant(decoded(a, tf))) for a in call]
            with noise.of_ops() if noise else contextlib.nullcontext():
                results = space["f"](*arguments)
            flat = [*tf.nest.flatten(results), *variables.values()]
            found.append([tf.convert_to_tensor(v).numpy() for v in flat])
        except Exception as e:
            found.append(e)
            break
    return found


def answered(programs: list[dict[str, Any]]) -> None:
    """Adds TensorFlow's answers."""
    import tensorflow as tf

    for number, program in enumerate(programs):
        program["answers"] = [
            f"{type(o).__name__}: {str(o)[:300]}"
            if isinstance(o, BaseException)
            else [encoded(np.asarray(a)) for a in o]
            for o in outcomes(tf, program)
        ]
        if number % 100 == 0:
            print(number, flush=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["draw", "answer", "keep"])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.step == "draw":
        programs = drawn(options.count, options.seed)
        options.file.write_text(json.dumps(programs))
        return
    programs = json.loads(options.file.read_text())
    if options.step == "answer":
        answered(programs)
        options.file.write_text(json.dumps(programs))
    else:
        from trust.catalogue import NOT_UNIQUE

        excluded = tuple([f"raw_ops.{name}(" for name in NOT_UNIQUE])
        kept = [p for p in programs if _is_small(p) and not any(e in p["source"] for e in excluded)]
        KEPT.write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))
        print(len(kept), "programs,", KEPT.stat().st_size, "bytes")


def _is_small(program: dict[str, Any]) -> bool:
    """Whether TensorFlow answered every call, and with few elements."""
    results = program["answers"]
    if len(results) < len(CALLS) or any(isinstance(r, str) for r in results):
        return False
    return all(np.prod(a[1], dtype=int) <= MAX_RESULT_ELEMENTS * 10 for r in results for a in r)


if __name__ == "__main__":
    sys.exit(main())
