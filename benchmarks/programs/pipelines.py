"""Programs on datasets, files and checkpoints: a step is a whole pass."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program

PLAIN = ("eager",)
LOOPS = ("eager", "graph")


def _folder() -> pathlib.Path:
    return pathlib.Path(tempfile.mkdtemp(prefix="programs-"))


@program(modes=LOOPS)
def batches(tf: Any, inputs: Inputs) -> Any:
    """Shuffled, normalised and batched arrays, summed."""
    n, d, b = inputs.size(1000, 4000, 20), inputs.size(10, 100, 3), inputs.size(16, 64, 4)
    x, y = inputs.normal(n, d), inputs.integers(10, n)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(n, seed=1)
    data = data.map(lambda a, l: (a / tf.norm(a), l), num_parallel_calls=2).batch(b).prefetch(2)

    def step() -> Any:
        total, count = tf.zeros([d]), 0
        for a, l in data:
            total += tf.reduce_sum(a, 0)
            count += tf.reduce_sum(l)
        return total, count

    return step, ()


@program(modes=PLAIN)
def padded_batches(tf: Any, inputs: Inputs) -> Any:
    """Sequences of many lengths, filtered and padded batch by batch."""
    n, b = inputs.size(500, 2000, 12), inputs.size(8, 32, 4)
    lengths = inputs.integers(40, n) + 1
    data = tf.data.Dataset.from_tensor_slices(lengths).filter(lambda k: k > 3)
    data = data.map(lambda k: tf.range(k) * k).padded_batch(b).prefetch(1)

    def step() -> Any:
        return tf.stack([tf.reduce_sum(batch) for batch in data])

    return step, ()


@program(modes=PLAIN)
def interleaved_ranges(tf: Any, inputs: Inputs) -> Any:
    """Several sources interleaved, windows, a running sum."""
    sources, n = inputs.size(4, 10, 3), inputs.size(200, 700, 10)

    def source(i: Any) -> Any:
        return tf.data.Dataset.range(i * 1000, i * 1000 + n)

    data = tf.data.Dataset.range(sources).interleave(
        source, cycle_length=3, block_length=4, num_parallel_calls=2, deterministic=True
    )
    data = data.batch(16, drop_remainder=True).map(lambda x: tf.cast(x, tf.float32) * 0.5)

    def step() -> Any:
        return data.reduce(tf.zeros([16]), lambda total, x: total * 0.9 + x)

    return step, ()


@program(modes=PLAIN)
def write_records(tf: Any, inputs: Inputs) -> Any:
    """Examples serialised and written as TFRecord."""
    n, d = inputs.size(200, 800, 5), inputs.size(20, 200, 4)
    x, labels = inputs.normal(n, d), inputs.integers(10, n)
    path = str(_folder() / "data.tfrecord")
    train = tf.train

    def step() -> Any:
        with tf.io.TFRecordWriter(path) as writer:
            for row, label in zip(x, labels, strict=True):
                feature = {
                    "x": train.Feature(float_list=train.FloatList(value=row)),
                    "y": train.Feature(int64_list=train.Int64List(value=[label])),
                }
                example = train.Example(features=train.Features(feature=feature))
                writer.write(example.SerializeToString())
        return pathlib.Path(path).stat().st_size

    return step, ()


@program(modes=PLAIN)
def read_records(tf: Any, inputs: Inputs) -> Any:
    """TFRecord read, parsed in batches, decoded from raw bytes."""
    n, d, b = inputs.size(500, 2000, 8), inputs.size(20, 200, 4), inputs.size(16, 64, 3)
    path = str(_folder() / "data.tfrecord")
    train = tf.train
    with tf.io.TFRecordWriter(path) as writer:
        for row in inputs.normal(n, d):
            feature = {"x": train.Feature(bytes_list=train.BytesList(value=[row.tobytes()]))}
            example = train.Example(features=train.Features(feature=feature))
            writer.write(example.SerializeToString())
    features = {"x": tf.io.FixedLenFeature([], tf.string)}

    def parse(lines: Any) -> Any:
        return tf.io.decode_raw(tf.io.parse_example(lines, features)["x"], tf.float32)

    data = tf.data.TFRecordDataset(path).batch(b).map(parse, num_parallel_calls=2).prefetch(2)

    def step() -> Any:
        return data.reduce(tf.zeros([d]), lambda total, x: total + tf.reduce_sum(x, 0))

    return step, ()


@program(modes=PLAIN)
def csv_dataset(tf: Any, inputs: Inputs) -> Any:
    """Lines of a file, decoded and batched."""
    n = inputs.size(500, 2000, 9)
    path = _folder() / "data.csv"
    rows = [f"{i},{a:.4f},{b:.3f}\n" for i, (a, b) in enumerate(inputs.normal(n, 2))]
    path.write_text("id,a,b\n" + "".join(rows))

    def parse(line: Any) -> Any:
        number, a, b = tf.io.decode_csv(line, [[0], [0.0], [0.0]])
        return tf.stack([tf.cast(number, tf.float32), a, b])

    data = tf.data.TextLineDataset(str(path)).skip(1).map(parse).batch(32)

    def step() -> Any:
        return data.reduce(tf.zeros([3]), lambda total, x: total + tf.reduce_sum(x, 0))

    return step, ()


@program(modes=PLAIN)
def image_pipeline(tf: Any, inputs: Inputs) -> Any:
    """Bytes of pictures: parallel maps with crops, batches, prefetch."""
    n, size, b = inputs.size(60, 200, 5), inputs.size(40, 80, 12), inputs.size(8, 24, 2)
    images = inputs.pixels(n, size, size, 3)
    crop = size * 3 // 4

    def prepare(image: Any) -> Any:
        x = tf.image.convert_image_dtype(image, tf.float32)
        x = tf.image.central_crop(x, 0.75)
        x = tf.image.resize(x, [crop, crop])
        return tf.image.per_image_standardization(tf.image.flip_left_right(x))

    data = tf.data.Dataset.from_tensor_slices(images).map(prepare, num_parallel_calls=2)
    data = data.batch(b).prefetch(2)

    def step() -> Any:
        return tf.concat([tf.reduce_mean(batch**2, [1, 2, 3]) for batch in data], 0)

    return step, ()


@program(modes=PLAIN)
def checkpoint(tf: Any, inputs: Inputs) -> Any:
    """A model's variables and optimizer written, and read again."""
    layers, n = inputs.size(4, 12, 2), inputs.size(80, 300)
    variables = [tf.Variable(inputs.normal(n, n)) for _ in range(layers)]
    saved = tf.train.Checkpoint(**{f"layer_{i}": v for i, v in enumerate(variables)})
    prefix = str(_folder() / "model")

    def step() -> Any:
        path = saved.write(prefix)
        saved.read(path).assert_consumed()
        return tf.add_n([tf.reduce_sum(v) for v in variables])

    return step, ()


@program(modes=PLAIN)
def generator_windows(tf: Any, inputs: Inputs) -> Any:
    """A Python generator, sliding windows, batches for a forecast."""
    n, width = inputs.size(300, 1000, 20), inputs.size(8, 24, 4)
    values = np.sin(np.arange(n) / 9.0).astype("float32")
    spec = tf.TensorSpec([], tf.float32)
    data = tf.data.Dataset.from_generator(lambda: iter(values), output_signature=spec)
    data = data.window(width, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(width))
    data = data.map(lambda w: (w[:-1], w[-1])).batch(32)

    def step() -> Any:
        return tf.stack([tf.reduce_mean(x[:, -1] - y) for x, y in data])

    return step, ()
