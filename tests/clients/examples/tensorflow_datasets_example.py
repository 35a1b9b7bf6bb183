"""tensorflow_datasets: a dataset of one's own is written, read in parts, and read as arrays."""

import contextlib
import io
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds


class Squares(tfds.core.GeneratorBasedBuilder):
    """Twelve numbers with texts, labels, images and sequences."""

    VERSION = tfds.core.Version("1.0.0")
    pkg_dir_path = pathlib.Path(tempfile.gettempdir())

    def _info(self):
        features = tfds.features.FeaturesDict(
            {
                "x": tfds.features.Tensor(shape=(2,), dtype=np.float32),
                "image": tfds.features.Image(shape=(4, 4, 3)),
                "label": tfds.features.ClassLabel(names=["even", "odd"]),
                "text": tfds.features.Text(),
                "several": tfds.features.Sequence(np.int64),
            }
        )
        return self.dataset_info_from_configs(features=features, supervised_keys=("x", "label"))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(12), "test": self._generate_examples(3)}

    def _generate_examples(self, number):
        for i in range(number):
            yield (
                i,
                {
                    "x": np.array([i, i * i], "float32"),
                    "image": np.full((4, 4, 3), i, "uint8"),
                    "label": i % 2,
                    "text": f"number {i}",
                    "several": list(range(i % 3)),
                },
            )


with tempfile.TemporaryDirectory() as folder:
    builder = Squares(data_dir=folder)
    with contextlib.redirect_stdout(io.StringIO()):  # it says where the folder is
        builder.download_and_prepare()
    info = builder.info
    print("splits", {name: split.num_examples for name, split in info.splits.items()})
    whole = builder.as_dataset(split="train", shuffle_files=False)
    print("order", [int(e["x"][0]) for e in whole])
    for example in whole.take(2):
        print(
            example["text"].numpy().decode(),
            int(example["label"]),
            example["several"].numpy().tolist(),
            int(tf.reduce_sum(tf.cast(example["image"], tf.int32))),
        )
    half = builder.as_dataset(split="train[:50%]", as_supervised=True, batch_size=3)
    print("batches", [(x.shape.as_list(), y.numpy().tolist()) for x, y in half])
    arrays = tfds.as_numpy(builder.as_dataset(split="test"))
    print("arrays", sorted(float(one["x"][1]) for one in arrays))
    print("spec", builder.as_dataset(split="train[2:4]").element_spec["several"])
    print("kept", info.features["label"].int2str(1))
