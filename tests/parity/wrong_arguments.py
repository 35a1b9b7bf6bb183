"""Calls of the public functions with arguments drawn at random, most of them wrong somewhere.

A call is the text of an expression, so that TensorFlow can be asked for the class of its error:

    path/to/python-with-tensorflow -m tests.parity.wrong_arguments

from the repository's root writes wrong_arguments.json. The calls follow from a seed and from the
list of TensorFlow's names and signatures (`api_symbols.txt`).
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.parity import forked

FOLDER = Path(__file__).parent
SEED = 20
RECORDED = 4000

# What an argument may be: numbers and texts, tensors of all ranks and kinds, and what is neither.
PLAIN = (
    "None", "0", "1", "2", "-1", "7", "2**31", "2**40", "-2**63", "3.5", "-0.0", "float('nan')",
    "True", "'a'", "''", "b'\\xff'", "1j", "[]", "()", "{}", "{'a': 1}", "[1, 2]", "[2, -1]", "[[1.0, 2.0], [3.0, 4.0]]",
    "[1, 'a']", "[[1], [2, 3]]", "[None]", "(0, 1)", "'float32'", "tf.float32", "tf.int32", "tf.string",
    "object()", "len", "(lambda *a: a[0] if a else 1)", "int", "range(3)", "{1}", "np.float32(2)", "np.int64(1)",
    "np.zeros([0, 3], np.float32)", "np.array(['a', 'b'])", "np.array([1, None], object)", "np.ones([2, 3])",
    "tf.TensorShape([2, None])", "tf.TensorShape(None)", "slice(1)", "..."
)  # fmt: skip
TENSORS = (
    "tf.constant(2)", "tf.constant(-1)", "tf.constant(1.5)", "tf.constant('a')", "tf.constant(True)",
    "tf.constant(1j)", "tf.constant([1, 0])", "tf.constant([1.0, 2.0, 3.0])", "tf.constant(['a', 'bc'])",
    "tf.constant([True, False])", "tf.constant([2**40, -1], tf.int64)", "tf.ones([2, 3])", "tf.ones([3, 3])",
    "tf.ones([2, 3], tf.int32)", "tf.ones([2, 3], tf.float16)", "tf.ones([2, 3], tf.complex64)", "tf.zeros([0, 3])",
    "tf.zeros([2, 0], tf.int32)", "tf.ones([1, 4, 4, 3])", "tf.ones([4, 4, 3], tf.uint8)", "tf.ones([2, 3, 4])",
    "tf.ones([1, 2, 3, 4, 5])", "tf.fill([2, 2], float('nan'))", "tf.constant([], tf.string)",
    "tf.ragged.constant([[1, 2], [3]])", "tf.ragged.constant([['a'], []])", "tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])",
    "tf.Variable([1.0, 2.0])", "tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))",
    "tf.TensorSpec([2], tf.float32)", "tf.random.Generator.from_seed(1)", "tf.data.Dataset.range(3)"
)  # fmt: skip
# What is likely right for a parameter of such a name.
FITTING: dict[str, tuple[str, ...]] = {
    "axis|dim|batch_dims|keepdims|axes|perm": ("0", "1", "-1", "[0]", "[1, 0]", "True"),
    "dtype|out_type|output_type|type": ("tf.float32", "tf.int32", "'int64'"),
    "shape|dims|size|output_shape|multiples|paddings|sizes": ("[2, 3]", "[1, 1]", "[6]", "[[0, 1], [1, 0]]", "4"),
    "num|depth|k|n|maxlen|number|seed|minval|maxval|lower|upper": ("1", "2", "3", "[1, 2]"),
    "indices|segment_ids|index|ids": ("tf.constant([0, 1])", "[[0], [1]]", "tf.constant([1, 0], tf.int64)"),
    "strides|ksize|dilations|rates|padding": ("1", "2", "[1, 1, 1, 1]", "'SAME'", "'VALID'"),
    "fn|func|function|body|cond|true_fn|false_fn|initializer": ("(lambda *a: a[0] if a else 1)", "(lambda: tf.constant(1))"),
    "image|images": ("tf.ones([1, 4, 4, 3])", "tf.ones([4, 4, 3])"),
    "string|pattern|source|separator|delimiter|contents|bytes": ("'a'", "tf.constant(['a', 'bc'])", "b'abc'"),
    "matrix|tensor|input|x|y|a|b|logits|labels|value|values|features|params|data|rt|sp": (
        "tf.ones([3, 3])", "tf.ones([2, 3])", "tf.constant([1.0, 2.0, 3.0])", "tf.constant([1, 0])"
    ),
}  # fmt: skip
# Namespaces of functions, and those that ask for other processes, files, threads or screens.
NAMESPACES = (
    "tf", "tf.math", "tf.math.special", "tf.nn", "tf.nn.experimental", "tf.image", "tf.linalg", "tf.signal", "tf.io", "tf.debugging",
    "tf.sparse", "tf.strings", "tf.random", "tf.random.experimental", "tf.quantization", "tf.ragged", "tf.bitwise",
    "tf.sets", "tf.nest", "tf.dtypes", "tf.audio", "tf.experimental.numpy", "tf.experimental.numpy.random",
    "tf.data.experimental", "tf.data.Dataset", "tf.feature_column", "tf.train"
)  # fmt: skip
LEFT_OUT = re.compile(
    r"tf\.(?:io\.(?:write|matching|disable|enable|gfile|read_file)|debugging\.(?:enable|disable|set_|experimental)"
    r"|random\.(?:set_|Generator|experimental)|config|device|experimental\.numpy\.(?:experimental|random\.seed)"
    r"|data\.experimental\.(?:enable|service|parallel|save|load|make_saveable|dense_to_ragged)|train\.(?:Server|Cluster)"
    r"|print|py_function|numpy_function|executing|inside|init_scope|load_|recompute|nondifferentiable|no_gradient"
    r"|register|vectorized_map|grad_pass|custom_gradient|function|while_loop|stop_gradient|compat|get_logger|foldl|foldr|scan"
    r"|dtypes\.experimental|random_index|nest\.)"
)
# Methods of data sets, with their parameters.
METHODS = (
    "batch(batch_size, drop_remainder)", "shuffle(buffer_size, seed)", "repeat(count)", "take(count)", "skip(count)",
    "shard(num_shards, index)", "padded_batch(batch_size, padded_shapes, padding_values)", "map(map_func)",
    "filter(predicate)", "reduce(initial_state, reduce_func)", "window(size, shift, stride)", "prefetch(buffer_size)",
    "interleave(map_func, cycle_length)", "enumerate(start)", "concatenate(dataset)", "unbatch()", "apply(transformation_func)",
    "bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes)", "rebatch(batch_size)",
    "group_by_window(key_func, reduce_func, window_size)", "scan(initial_state, scan_func)", "take_while(predicate)",
    "ragged_batch(batch_size)", "sparse_batch(batch_size, row_shape)", "rejection_resample(class_func, target_dist)"
)  # fmt: skip


def signatures() -> list[tuple[str, tuple[str, ...]]]:
    """The names of functions with those of their parameters, in the order of the list."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for line in (FOLDER / "api_symbols.txt").read_text().splitlines():
        name, mark, rest = line.partition("(")
        if not mark or name.rpartition(".")[0] not in NAMESPACES or LEFT_OUT.match(name):
            continue
        names = tuple([p.strip() for p in rest.rstrip(")").split(",") if p.strip()])
        if not any("*" in n for n in names):
            found.append((name, names))
    for method in METHODS:
        name, _, rest = method.rstrip(")").partition("(")
        names = tuple([p.strip() for p in rest.split(",") if p.strip()])
        found.append((f"tf.data.Dataset.range(5).{name}", names))
    return found


def _argument(draw: random.Random, name: str) -> str:
    if draw.random() < 0.6:
        for words, values in FITTING.items():
            if any(part in words.split("|") for part in (name, *name.split("_"))):
                return draw.choice(values)
    return draw.choice(TENSORS if draw.random() < 0.5 else PLAIN)


def calls(count: int, seed: int = SEED) -> Iterator[str]:
    """So many calls, each as the text of an expression; the functions go round."""
    draw = random.Random(seed)
    known = signatures()
    for i in range(count):
        name, parameters = known[i % len(known)]
        # Mostly the leading parameters are the ones without defaults.
        wanted = [p for p in parameters if p != "name"]
        wanted = wanted[: draw.randint(1, max(1, len(wanted)))] if draw.random() < 0.8 else wanted
        given = ", ".join([f"{p}={_argument(draw, p)}" for p in wanted])
        yield f"{name}({given})"


def raised(call: str, tf: Any) -> Exception | None:
    """The error of a call, None if there is none. Of data sets two elements are taken."""
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(call, {"tf": tf, "np": np})
            if isinstance(result, tf.data.Dataset):
                list(result.take(2))
        except Exception as e:
            return e
    return None


def outcome(call: str, tf: Any) -> str:
    """The class of the error of a call, "" if there is none."""
    error = raised(call, tf)
    return "" if error is None else type(error).__name__


def answers() -> dict[str, str]:
    """TensorFlow's recorded classes by call."""
    table = json.loads((FOLDER / "wrong_arguments.json").read_text())
    del table["_tensorflow"]
    return table


def main() -> None:
    """Records TensorFlow's answers; "crash" for a call that ends the process, or does not end."""
    import tensorflow as tf

    known = list(dict.fromkeys(calls(RECORDED)))
    said: Any = forked.answers(known, lambda call: outcome(call, tf), "crash")  # type: ignore[arg-type]  # texts will do
    table = dict(zip(known, said, strict=True))
    text = json.dumps({"_tensorflow": tf.__version__, **table}, indent=0)
    (FOLDER / "wrong_arguments.json").write_text(text + "\n")
    print(f"{len(table)} answers, {sum(bool(v) for v in table.values())} errors")


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.exit(main())
