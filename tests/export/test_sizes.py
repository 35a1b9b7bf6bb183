"""Open dimensions as arguments of C functions: equal to Python for every number, an error for others."""

from __future__ import annotations

import itertools
import math
import pathlib
import shutil
import subprocess
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf
from intaglio.export.sizes import Size, choices, formula, product
from tests.export.loaded import Loaded
from tests.export.programs import SECONDS, CProgram, within_ulps

HAS_CC = bool(shutil.which("cc"))
FUZZ = str(pathlib.Path(__file__).with_name("fuzz_sizes.c"))


def _weights(*shape: int) -> Any:
    rng = np.random.default_rng(sum(shape))
    return tf.Variable((rng.normal(size=shape) / np.sqrt(shape[0])).astype("float32"))


# -- functions: what they are, the shapes of their arguments, and what dimensions may be --------------


def attention() -> Any:
    """One length in two arguments; a mask, positions, a slice with a step."""
    q, o = _weights(8, 24), _weights(8, 8)

    def f(x: Any, mask: Any) -> Any:
        n = tf.shape(x)[1]
        y = x + tf.cast(tf.range(n), tf.float32)[:, tf.newaxis] / 10.0
        y = tf.reshape(tf.matmul(tf.reshape(y, [-1, 8]), q), [1, n, 3, 2, 4])
        parts = [tf.transpose(y[:, :, i], [0, 2, 1, 3]) for i in range(3)]
        s = tf.matmul(parts[0], parts[1], transpose_b=True) / 2.0
        s = tf.nn.softmax(tf.where(mask[:, tf.newaxis, tf.newaxis, :], s, -1e9))
        y = tf.reshape(tf.transpose(tf.matmul(s, parts[2]), [0, 2, 1, 3]), tf.shape(x))
        y = x + tf.tensordot(y, o, 1)
        return {"all": y, "some": y[:, ::2], "last": y[:, -1]}

    x = tf.TensorSpec([1, None, 8], tf.float32, name="x")
    return f, [x, tf.TensorSpec([1, None], tf.bool, name="mask")], [(1, "n", 8), (1, "n")]


def image() -> Any:
    """Height and width of an image, through convolutions, pools and a mean."""
    a, b = _weights(3, 3, 2, 4), _weights(3, 3, 4, 3)

    def f(x: Any) -> Any:
        y = tf.nn.relu(tf.nn.conv2d(x, a, 2, "SAME"))
        up = tf.image.resize(y, 2 * tf.shape(y)[1:3], method="nearest")
        z = tf.nn.conv2d(tf.pad(y, [[0, 0], [1, 1], [1, 1], [0, 0]]), b, 1, "VALID")
        return {
            "up": up,
            "pooled": tf.nn.max_pool2d(z, 2, 2, "SAME"),
            "mean": tf.reduce_mean(z, [1, 2]),
        }

    return f, [tf.TensorSpec([1, None, None, 2], tf.float32, name="x")], [(1, "height", "width", 2)]


def recurrent() -> Any:
    """A loop as long as the argument, whose states are a list, backwards and with a gradient."""
    kernel, recurrence = _weights(3, 4), _weights(4, 4)

    def f(x: Any) -> Any:
        n = tf.shape(x)[0]
        with tf.GradientTape() as tape:
            tape.watch(x)
            state, states = tf.zeros([4]), tf.TensorArray(tf.float32, n)
            for t in tf.range(n):
                step = tf.linalg.matvec(kernel, x[t], transpose_a=True)
                state = tf.tanh(step + tf.linalg.matvec(recurrence, state))
                states = states.write(t, state)
            loss = tf.reduce_sum(state**2)
        return {"states": tf.reverse(states.stack(), [0]), "slope": tape.gradient(loss, x)}

    return f, [tf.TensorSpec([None, 3], tf.float32, name="x")], [("n", 3)]


def batches() -> Any:
    """A first dimension whose rows depend on each other, and a training step with dropout."""
    w, mean = _weights(5, 2), tf.Variable(tf.zeros([5]))

    def f(x: Any, y: Any) -> Any:
        mean.assign(0.9 * mean + 0.1 * tf.reduce_mean(x, 0))
        z = (x - mean) * tf.random.stateless_uniform(tf.shape(x), [1, 2])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(z, w) - y))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return {"loss": loss, "order": tf.argsort(x[:, 0]), "total": tf.cumsum(x, 0)}

    specs = [tf.TensorSpec([None, k], tf.float32, name=n) for n, k in (("x", 5), ("y", 2))]
    return f, specs, [("n", 5), ("n", 2)]


def joined() -> Any:
    """Two lengths: what is joined, a product of all pairs, dtypes."""

    def f(a: Any, b: Any) -> Any:
        pairs = tf.cast(a, tf.float64)[:, tf.newaxis] * b
        z = tf.complex(pairs, -pairs)
        return {"joined": tf.concat([tf.cast(a, tf.float64), b], 0), "flat": tf.reshape(z, [-1])}

    a = tf.TensorSpec([None], tf.int16, name="a")
    return f, [a, tf.TensorSpec([None], tf.float64, name="b")], [("n",), ("m",)]


FUNCTIONS = {
    "attention": (attention, {"n": (1, 2, 5, 16, 17)}),
    "image": (image, {"height": (2, 3, 4, 8), "width": (2, 5)}),
    "recurrent": (recurrent, {"n": range(1, 6)}),
    "batches": (batches, {"n": (1, 3, 8)}),
    "joined": (joined, {"n": range(4), "m": (0, 1, 90)}),
}


def _arguments(specs: Any, shapes: Any, sizes: dict[str, int]) -> dict[str, Any]:
    rng = np.random.default_rng(sum(sizes.values()))
    found: dict[str, Any] = {}
    for spec, shape in zip(specs, shapes, strict=True):
        array = np.asarray(rng.normal(size=[sizes.get(d, d) for d in shape]))
        found[spec.name] = array > -1.0 if spec.dtype == tf.bool else array
        found[spec.name] = found[spec.name].astype(spec.dtype.as_numpy_dtype)
    return found


@pytest.mark.skipif(not HAS_CC, reason="there is no C compiler")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_size(name: str, tmp_path: pathlib.Path) -> None:
    """Results, their shapes and the variables are those of Python; a size between others is an error."""
    make, numbers = FUNCTIONS[name]
    function, specs, shapes = make()
    concrete = tf.function(function).get_concrete_function(*specs)
    named = {s.name: d for s, d in zip(specs, shapes, strict=True)}
    made = intaglio.export_library(
        concrete, tmp_path / "model", kinds=["shared"], shapes=named, sizes=numbers
    )
    library = Loaded(made)
    (signature,) = made.interface.functions
    for chosen in itertools.product(*[numbers[s.label] for s in signature.sizes]):
        sizes = dict(zip([s.name for s in signature.sizes], chosen, strict=True))
        arguments = _arguments(specs, shapes, sizes)
        found = library.call("run", arguments, **sizes)
        expected = concrete(*[tf.constant(a) for a in arguments.values()])
        for label, value in expected.items():
            _near(found[label], value.numpy())
        for port in signature.outputs:
            count = product(port.forms or [str(d) for d in port.shape]).replace("/", "//")
            shown = SimpleNamespace(**{p.name: found[p.label].shape for p in signature.outputs})
            assert eval(count, {}, {**sizes, "shapes": shown}) == found[port.label].size
    for size in signature.sizes:
        least, most = size.values[0], size.values[-1]
        for wrong in {least - 1, most + 1, 2**40, 2**64 - 1, *range(least, most)} - {*size.values}:
            with pytest.raises(
                RuntimeError, match=f"size '{size.label}' is none of those that code"
            ):
                library.call("run", arguments, **sizes | {size.name: wrong % 2**64})
    library.close()


def _near(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    scale = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6 * scale)


@pytest.mark.skipif(not HAS_CC, reason="there is no C compiler")
def test_rows_and_sizes(tmp_path: pathlib.Path) -> None:
    """Any number of rows beside a length; rows of the result are as many as the length for each."""
    w = _weights(3, 2)

    def f(x: Any) -> Any:
        y = tf.tensordot(x, w, 1)
        return {"flat": tf.reshape(y, [-1, 2]), "mean": tf.reduce_mean(y, 1)}

    x = tf.TensorSpec([None, None, 3], tf.float32, name="x")
    concrete = tf.function(f).get_concrete_function(x)
    made = intaglio.export_library(
        concrete,
        tmp_path / "model",
        kinds=["shared"],
        sizes={"x_dim1": (1, 2, 5)},
        batch_size=(1, 4),
    )
    library = Loaded(made)
    for rows, n in itertools.product((0, 1, 3, 9), (1, 2, 5)):
        value = np.random.default_rng(n).normal(size=(rows, n, 3)).astype("float32")
        found = library.call("run", {"x": value}, x_dim1=n)
        for label, own in concrete(tf.constant(value)).items():
            _near(found[label], own.numpy())
    with pytest.raises(RuntimeError, match="count is not"):
        library.call("run", {"x": value}, rows=2**63, x_dim1=5)
    library.close()


def test_results_that_data_determines(tmp_path: pathlib.Path) -> None:
    """The memory for such a result depends on sizes, and so does that for its shape."""
    x = tf.TensorSpec([None], tf.int32, name="x")
    concrete = tf.function(lambda x: {"y": tf.unique(x).y}).get_concrete_function(x)
    made = intaglio.export_library(
        concrete, tmp_path / "model", kinds=["object"], sizes={"x_dim0": (3, 6)}
    )
    value, shape = made.interface.functions[0].outputs
    assert (value.extent, value.count_in_c, shape.count) == ("y_shape", "x_dim0", 1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {},
            r"Give shapes=\{'x': \(2, 8\)\}, or the numbers that it may be.*sizes=\{'x_dim1': range",
        ),
        ({"shapes": {"x": (2, "n")}}, r"sizes=\{'n': range\(1, 65\)\}"),
        ({"shapes": {"x": ("n", 3)}, "sizes": {"n": (2,)}}, "does not fit"),
        (
            {"sizes": {"x_dim0": (2,)}, "shapes": {"x": (2, 3)}},
            "no open dimension 'x_dim0'; there is none",
        ),
        ({"sizes": {"x_dim1": ()}}, "write the numbers that it may be"),
        ({"sizes": {"x_dim1": (-1, 2)}}, "write the numbers that it may be"),
        ({"sizes": {"x_dim1": 5}}, "write the numbers that it may be"),
        ({"sizes": {"x_dim1": [1.5, 2.0]}}, "write the numbers that it may be"),
        ({"sizes": {"x_dim1": "12"}}, "write the numbers that it may be"),
        ({"sizes": {"x_dim1": (2**63,)}}, "write the numbers that it may be"),
        ({"sizes": {"x_dim1": range(5000)}}, "has 5000 choices of 'x_dim1'.* 4096 at most"),
        ({"sizes": {"x_dim1": (2, 4)}, "shapes": {"z": (1,)}}, "no input 'z'; there are x"),
    ],
)
def test_wrong_options(options: Any, text: str, tmp_path: pathlib.Path) -> None:
    x = tf.TensorSpec([2, None], tf.float32, name="x")
    concrete = tf.function(lambda x: x * 2.0).get_concrete_function(x)
    with pytest.raises(intaglio.ExportError, match=text):
        intaglio.export_library(concrete, tmp_path / "model", kinds=["object"], **options)


def test_what_has_no_code_is_named_with_its_sizes(tmp_path: pathlib.Path) -> None:
    x = tf.TensorSpec([None], tf.float32, name="x")
    concrete = tf.function(lambda x: tf.reshape(x, [2, -1])).get_concrete_function(x)
    with pytest.raises(intaglio.ExportError, match=r"for x_dim0 = 3: .*\n.*Reshape.*test_sizes.py"):
        intaglio.export_library(
            concrete, tmp_path / "model", kinds=["object"], sizes={"x_dim0": (2, 3)}
        )


# -- C programs -----------------------------------------------------------------------------------------


@pytest.mark.skipif(not HAS_CC, reason="there is no C compiler")
@pytest.mark.parametrize("flags", [(), ("-fsanitize=address,undefined",)], ids=["plain", "address"])
def test_wrong_arguments(flags: tuple[str, ...], tmp_path: pathlib.Path) -> None:
    """Sizes, counts and pointers that are wrong, drawn at random: an error for each, and nothing else."""

    def f(x: Any, y: Any) -> Any:
        return tf.concat([x, tf.transpose(y, [1, 0])], 0) * 2.0

    x = tf.TensorSpec([None, None], tf.float32, name="x")
    y = tf.TensorSpec([None, 3], tf.float32, name="y")
    concrete = tf.function(f).get_concrete_function(x, y)
    library = intaglio.export_library(
        concrete,
        tmp_path / "model",
        kinds=["object"],
        shapes={"x": ("n", "m"), "y": ("m", 3)},
        sizes={"n": (0, 1, 4, 9), "m": range(2, 6)},
    )
    path = str(tmp_path / "fuzz")
    command = ["cc", "-O1", "-g", *flags, f"-I{tmp_path}", FUZZ, str(library.paths["object"])]
    done = subprocess.run(
        [*command, "-lm", "-o", path], capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    for seed in range(3):
        done = subprocess.run([path, str(seed)], capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, (seed, done.returncode, done.stderr)


@pytest.mark.skipif(not HAS_CC, reason="there is no C compiler")
def test_a_c_program(tmp_path: pathlib.Path) -> None:
    """A program compiled with all warnings; the example runs, too."""
    function, specs, shapes = image()
    concrete = tf.function(function).get_concrete_function(*specs)
    made = intaglio.export_library(
        concrete,
        tmp_path / "model",
        kinds=["object"],
        shapes={"x": shapes[0]},
        sizes={"height": (4, 6), "width": (3, 8)},
    )
    sizes = {"height": 6, "width": 3}
    arguments = _arguments(specs, shapes, sizes)
    (found,), _ = CProgram(made, ["run"], tmp_path).run(arguments, **sizes)
    native = tf.function(function, jit_compile=True)(tf.constant(arguments["x"]))
    for label, value in native.items():
        within_ulps(found[label], value.numpy(), 4)
    path = str(tmp_path / "example")
    files = [str(made.paths["example"]), str(made.paths["object"])]
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", *files, "-lm", "-o", path], check=True)
    done = subprocess.run([path], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr


# -- formulas -------------------------------------------------------------------------------------------

_VALUES = st.lists(st.integers(0, 40), min_size=1, max_size=6, unique=True).map(sorted)


@settings(max_examples=200, deadline=None)
@given(st.lists(_VALUES, min_size=1, max_size=3), st.data())
def test_formulas_are_right(values: list[list[int]], data: st.DataObject) -> None:
    """A formula gives the dimension for every choice, as C computes it of numbers without a sign."""
    sizes = [Size(f"n{i}", f"n{i}", tuple(v)) for i, v in enumerate(values)]
    slopes = [data.draw(st.integers(-2, 4)) for _ in sizes]
    constant, divisor = data.draw(st.integers(-3, 30)), data.draw(st.integers(1, 5))
    dims = [max(sum(map(int.__mul__, slopes, c)) + constant, 0) // divisor for c in choices(sizes)]
    if data.draw(st.booleans()):
        dims[data.draw(st.integers(0, len(dims) - 1))] += 1
    found = formula(sizes, dims)
    if found is not None:
        for chosen, dim in zip(choices(sizes), dims, strict=True):
            names = {s.name: n for s, n in zip(sizes, chosen, strict=True)}
            assert eval(found.replace("/", "//"), {}, names) == dim


def test_formulas_are_found() -> None:
    n, m = Size("n", "n", tuple(range(1, 9))), Size("m", "m", (3, 5, 8))
    for text in (
        "n",
        "2 * n + 1",
        "n + m",
        "3 * n + 2 * m - 4",
        "n / 2",
        "(n + 1) / 2",
        "(m + 3) / 4",
        "7",
        "n * n",
        "n * m * m - 2",
        "n * n + n * m + 3",
    ):
        dims = [eval(text.replace("/", "//"), {}, {"n": a, "m": b}) for a, b in choices([n, m])]
        assert formula([n, m], dims) == text
    assert formula([n, m], [a**5 for a, b in choices([n, m])]) is None
    assert product(["2", "n", "(n + 1) / 2", "3"]) == "6 * n * ((n + 1) / 2)"
    assert math.prod([int(product([])), 1]) == 1
