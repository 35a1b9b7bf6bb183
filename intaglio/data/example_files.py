"""Datasets of records of `tf.train.Example`.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/make_batched_features_dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base.dtypes import string
from intaglio.data.dataset import Dataset
from intaglio.data.readers import TFRecordDatasetV2
from intaglio.example_parsing.examples import parse_example
from intaglio.type_specs.type_spec import TensorSpec


def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: bool | None = None
) -> Callable[[Dataset], Dataset]:
    """A transformation that parses batches of serialized Examples, for `Dataset.apply`.

    Raises ValueError without features, TypeError for a dataset of other elements.

    `num_parallel_calls` is a hint of the number of threads. `deterministic` keeps the order of the
    elements.

    >>> example = tf.train.Example()
    >>> example.features.feature["x"].int64_list.value.append(3)
    >>> records = tf.data.Dataset.from_tensors([example.SerializeToString()])
    >>> features = {"x": tf.io.FixedLenFeature([], tf.int64)}
    >>> parsed = records.apply(tf.data.experimental.parse_example_dataset(features))
    >>> [row["x"].numpy().tolist() for row in parsed]
    [[3]]
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def apply(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not spec.is_compatible_with(TensorSpec([None], string)):
            raise TypeError(
                f"Input dataset should be a dataset of vectors of strings. Instead it is `{spec}`."
            )
        return dataset.map(
            lambda serialized: parse_example(serialized, features),
            num_parallel_calls=num_parallel_calls,
            deterministic=deterministic,
        )

    return apply


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: int,
    features: Any,
    reader: Any = None,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of parsed Examples of the files of a pattern: dicts, or (dict, label).

    `reader` makes a dataset of a file's name, by default that of TFRecord files. Epochs
    without end if `num_epochs` is None; then batches are always full. Raises ValueError for
    a `label_key` that is no feature.

    `reader_args` are further arguments of the reader; `reader_num_threads`, `parser_num_threads`
    and `prefetch_buffer_size` are hints. `shuffle` with `shuffle_buffer_size` and `shuffle_seed`
    reorders the records; `sloppy_ordering` allows for another order of files; `drop_final_batch`
    leaves out a last batch that is not full.

    >>> import os, tempfile
    >>> example = tf.train.Example()
    >>> example.features.feature["x"].int64_list.value.append(3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "examples")
    ...     with tf.io.TFRecordWriter(path) as writer:
    ...         writer.write(example.SerializeToString())
    ...     features = {"x": tf.io.FixedLenFeature([], tf.int64)}
    ...     rows = tf.data.experimental.make_batched_features_dataset(
    ...         path, batch_size=1, features=features, num_epochs=1
    ...     )
    ...     [row["x"].numpy().tolist() for row in rows]
    [[3]]
    """
    if not isinstance(features, dict):
        raise TypeError(f"`features` must be a dictionary, got {features!r}")
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: {features.keys()}."
        )
    make = reader or TFRecordDatasetV2
    files = Dataset.list_files(file_pattern, shuffle, shuffle_seed)
    dataset = files.interleave(
        lambda name: make(name, *(reader_args or ())),
        cycle_length=reader_num_threads or 1,
        deterministic=not sloppy_ordering,
    )
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    full = drop_final_batch or num_epochs is None
    dataset = dataset.batch(batch_size, drop_remainder=full)
    dataset = dataset.apply(parse_example_dataset(features, parser_num_threads or 1))
    if label_key is not None:

        def labelled(parts: dict[str, Any]) -> tuple[dict[str, Any], Any]:
            rest = {k: v for k, v in parts.items() if k != label_key}
            return rest, parts[label_key]

        dataset = dataset.map(labelled)
    return dataset.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


__all__ = ["make_batched_features_dataset", "parse_example_dataset"]
