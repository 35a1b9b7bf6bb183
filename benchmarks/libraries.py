"""Exported libraries: one image through the digits network in C, in Python and in ONNX Runtime.

    python -m benchmarks.libraries [--peer PYTHON] [--tensorflow PYTHON]   writes benchmarks/libraries.md

PYTHON is an interpreter of an environment with `onnx` and `onnxruntime`, or with TensorFlow. All are
one process each on one thread, start after one another, five times in turn; each reports the median
of its calls, and the table has the median of the five.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

import intaglio
from intaglio.native.llvm.target import LEVELS, TARGETS
from tests.export import models

PAGE = pathlib.Path(__file__).with_name("libraries.md")
ROUNDS, CALLS = 5, 20_000

BENCH_C = r"""
#define _POSIX_C_SOURCE 199309L
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static int order(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }
static float image[64], logits[10];
static double times[200];
int main(int argc, char **argv) {
    double begun = now();
    int calls = atoi(argv[argc - 1]);
    model_context *context;
    if (model_create(&context)) return 1;
    model_run_inputs inputs = {{image, 64}};
    model_run_outputs outputs = {{logits, 10}};
    for (int i = 0; i < 64; i++) image[i] = (float)i / 64;
    if (model_run(context, &inputs, &outputs)) return 2;
    double first = now() - begun;
    for (int k = 0; k < 200; k++) {
        double start = now();
        for (int i = 0; i < calls / 200; i++) model_run(context, &inputs, &outputs);
        times[k] = (now() - start) / (calls / 200);
    }
    qsort(times, 200, sizeof *times, order);
    printf("{\"call\": %g, \"first\": %g}\n", times[100], first);
    return model_destroy(context);
}
"""

TIMED = """
import statistics, time, json
def timed(call, calls):
    times = []
    for _ in range(200):
        start = time.perf_counter()
        for _ in range(calls // 200): call()
        times.append((time.perf_counter() - start) / (calls // 200))
    return statistics.median(times)
"""

INTAGLIO = """
import time; begun = time.perf_counter()
from intaglio import tf
from tests.export import models
import numpy as np
run = models.digits()
image = tf.constant(np.arange(64, dtype="float32").reshape(1, 8, 8, 1) / 64)
run(image)["logits"].numpy(); first = time.perf_counter() - begun
for _ in range(2000): run(image)
print(json.dumps({"call": timed(lambda: run(image), CALLS), "first": first}))
"""

TENSORFLOW = """
import time, os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"; begun = time.perf_counter()
import tensorflow as tf, numpy as np
w = {k: v for k, v in np.load("WEIGHTS").items()}
tf.config.threading.set_intra_op_parallelism_threads(1)
@tf.function(jit_compile=True)
def run(images):
    x = tf.nn.relu(tf.nn.conv2d(images, w["k1"], 1, "SAME") + w["b1"])
    x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    x = tf.nn.relu(tf.nn.conv2d(x, w["k2"], 1, "SAME") + w["b2"])
    x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    return tf.matmul(tf.reshape(x, [-1, 128]), w["dense"]) + w["b3"]
image = tf.constant(np.arange(64, dtype="float32").reshape(1, 8, 8, 1) / 64)
run(image).numpy(); first = time.perf_counter() - begun
print(json.dumps({"call": timed(lambda: run(image), 2000), "first": first}))
"""

ONNX = """
import time; begun = time.perf_counter()
import numpy as np, onnxruntime as ort
options = ort.SessionOptions(); options.intra_op_num_threads = 1
session = ort.InferenceSession("MODEL", options)
image = {"images": np.arange(64, dtype="float32").reshape(1, 1, 8, 8) / 64}
session.run(None, image); first = time.perf_counter() - begun
print(json.dumps({"call": timed(lambda: session.run(None, image), CALLS), "first": first}))
"""

# The same network by hand, in the order of dimensions that ONNX has.
WRITE_ONNX = """
import numpy as np, onnx
from onnx import helper as h, numpy_helper as n
w = dict(np.load("WEIGHTS"))
w["k1"], w["k2"] = (w[k].transpose(3, 2, 0, 1) for k in ("k1", "k2"))
w["dense"] = w["dense"].reshape(2, 2, 32, 10).transpose(2, 0, 1, 3).reshape(128, 10)
pool = dict(kernel_shape=[2, 2], strides=[2, 2])
nodes = [h.make_node("Conv", ["images", "k1", "b1"], ["a"], pads=[1] * 4), h.make_node("Relu", ["a"], ["b"]),
         h.make_node("MaxPool", ["b"], ["c"], **pool), h.make_node("Conv", ["c", "k2", "b2"], ["d"], pads=[1] * 4),
         h.make_node("Relu", ["d"], ["e"]), h.make_node("MaxPool", ["e"], ["f"], **pool),
         h.make_node("Flatten", ["f"], ["g"]), h.make_node("Gemm", ["g", "dense", "b3"], ["logits"])]
value = lambda name, dims: h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
graph = h.make_graph(nodes, "digits", [value("images", [1, 1, 8, 8])], [value("logits", [1, 10])],
                     [n.from_array(np.ascontiguousarray(v), k) for k, v in w.items()])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9), "MODEL")
"""


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--peer", help="Python with onnx and onnxruntime")
    parser.add_argument("--tensorflow", help="Python with TensorFlow")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        contenders, made = prepared(folder, options.peer, options.tensorflow)
        rows = measured(contenders)
        sizes = {kind: p.stat().st_size for kind, p in made.paths.items()}
        text = page(rows, sizes, size_of_targets(folder), options)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def prepared(folder: pathlib.Path, peer: str | None, tensorflow: str | None) -> Any:
    """The commands that are timed, by name, and the library."""
    concrete = models.digits()
    made = intaglio.export_library(concrete, folder / "model")
    (folder / "bench.c").write_text(BENCH_C)
    build = ["cc", "-O2", f"-I{folder}", str(folder / "bench.c"), str(made.paths["static"]), "-lm"]
    subprocess.run([*build, "-o", str(folder / "bench")], check=True)
    # The variables in the order of their creation.
    names = dict(zip(("k1", "b1", "k2", "b2", "dense", "b3"), concrete.variables, strict=True))
    np.savez(folder / "weights.npz", **{k: v.numpy() for k, v in names.items()})
    contenders = {"the library, called in C": [str(folder / "bench"), str(CALLS)]}
    contenders["Intaglio, called in Python"] = python(sys.executable, INTAGLIO, folder)
    if peer:
        write = WRITE_ONNX.replace("WEIGHTS", str(folder / "weights.npz"))
        model = str(folder / "digits.onnx")
        subprocess.run([peer, "-c", write.replace("MODEL", model)], check=True)
        contenders["ONNX Runtime, called in Python"] = python(peer, ONNX, folder)
    if tensorflow:
        contenders["TensorFlow with XLA, called in Python"] = python(tensorflow, TENSORFLOW, folder)
    return contenders, made


def python(interpreter: str, program: str, folder: pathlib.Path) -> list[str]:
    """The command that runs a program."""
    for word, path in (("WEIGHTS", "weights.npz"), ("MODEL", "digits.onnx")):
        program = program.replace(word, str(folder / path))
    return [interpreter, "-c", TIMED + program.replace("CALLS", str(CALLS))]


def measured(contenders: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """Medians of the rounds: seconds of a call, to the first result, and of the whole process before it."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, command in contenders.items():
            start = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode:
                raise RuntimeError(done.stderr)
            row = json.loads(done.stdout.splitlines()[-1])
            found[name].append({**row, "process": time.perf_counter() - start})
    return {
        name: {key: statistics.median([row[key] for row in rows]) for key in rows[0]}
        for name, rows in found.items()
    }


def size_of_targets(folder: pathlib.Path) -> dict[str, int]:
    """The object file for each target, with the weights outside."""
    sizes: dict[str, int] = {}
    for target in (*LEVELS, *TARGETS):
        made = intaglio.export_library(
            models.digits(), folder / "sized", target=target, kinds=["object"], weights="beside"
        )
        sizes[target] = made.paths["object"].stat().st_size
    return sizes


def page(
    rows: dict[str, dict[str, float]], sizes: dict[str, int], targets: dict[str, int], options: Any
) -> str:
    """The page."""
    own = rows["the library, called in C"]["call"]
    flags = [f"--{k} PYTHON" for k in ("peer", "tensorflow") if getattr(options, k)]
    lines = [
        "# Exported libraries",
        "",
        f"Generated by `{' '.join(['python -m benchmarks.libraries', *flags])}`; do not edit.",
        f"{datetime.date.today():%Y-%m-%d}, {platform.machine()}, Intaglio {intaglio.__version__}: one image "
        "through the network of `examples/cutmix_digits.py`,",
        f"one thread (Intaglio in Python: its pool), medians of {ROUNDS} processes in turn. To the first result: from the first line "
        "of the program on, with imports and compilation.",
        "",
        "| | a call | of the library's time | to the first result |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        call, first = f"{row['call'] * 1e6:.2f} us", f"{row['first'] * 1e3:.3g} ms"
        lines.append(f"| {name} | {call} | {row['call'] / own:.1f} | {first} |")
    lines += [
        "",
        "| what is written for this machine | bytes |",
        "| --- | ---: |",
        *[f"| {kind} | {size} |" for kind, size in sizes.items()],
        "",
        "| object file without the weights, for | bytes |",
        "| --- | ---: |",
        *[f"| {target} | {size} |" for target, size in targets.items()],
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
