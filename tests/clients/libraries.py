"""The libraries that are run, with the version whose example and tests were run."""

from __future__ import annotations

from typing import NamedTuple


class Library(NamedTuple):
    """A library: its distribution on PyPI, the version, and whether `tf.keras` is Keras 2 for it."""

    distribution: str
    version: str
    keras_2: bool = False


# By the name of the module.
LIBRARIES = {
    "ampligraph": Library("ampligraph", "2.2.0", keras_2=True),
    "art": Library("adversarial-robustness-toolbox", "1.20.1"),
    "bayesflow": Library("bayesflow", "2.0.12"),
    "causalimpact": Library("tfcausalimpact", "0.0.19", keras_2=True),
    "cleverhans": Library("cleverhans", "4.0.0", keras_2=True),
    "cvnn": Library("cvnn", "2.0", keras_2=True),
    "deepctr": Library("deepctr", "0.9.4", keras_2=True),
    "deepreg": Library("deepreg", "0.1.2", keras_2=True),
    "deepxde": Library("deepxde", "1.15.0", keras_2=True),
    "einops": Library("einops", "0.8.2"),
    "foolbox": Library("foolbox", "3.3.4"),
    "gpflow": Library("gpflow", "2.11.2", keras_2=True),
    "gpflux": Library("gpflux", "0.4.5", keras_2=True),
    "graph_nets": Library("graph-nets", "1.1.0", keras_2=True),
    "kapre": Library("kapre", "0.4.1"),
    "keras_hub": Library("keras-hub", "0.32.0"),
    "keras_mdn_layer": Library("keras-mdn-layer", "1.0.0"),
    "keras_tuner": Library("keras-tuner", "1.4.8"),
    "larq": Library("larq", "0.14.0", keras_2=True),
    "ncps": Library("ncps", "1.0.1"),
    "pennylane": Library("pennylane", "0.45.1"),
    "phasespace": Library("phasespace", "1.10.4", keras_2=True),
    "pyhf": Library("pyhf", "0.7.6", keras_2=True),
    "qkeras": Library("QKeras", "0.9.0", keras_2=True),
    "scikeras": Library("scikeras", "0.13.0"),
    "sonnet": Library("dm-sonnet", "2.0.2"),
    "spektral": Library("spektral", "1.3.1", keras_2=True),
    "tcn": Library("keras-tcn", "3.5.7"),
    "tensorflow_datasets": Library("tensorflow-datasets", "4.9.10", keras_2=True),
    "tensorflow_gnn": Library("tensorflow-gnn", "1.0.3", keras_2=True),
    "tensorflow_graphics": Library("tensorflow-graphics", "2021.12.3", keras_2=True),
    "tensorflow_hub": Library("tensorflow-hub", "0.16.1", keras_2=True),
    "tensorflow_lattice": Library("tensorflow-lattice", "2.1.1", keras_2=True),
    "tensorflow_model_optimization": Library(
        "tensorflow-model-optimization", "0.8.1", keras_2=True
    ),
    "tensorflow_probability": Library("tensorflow-probability", "0.25.0", keras_2=True),
    "tensorflow_recommenders": Library("tensorflow-recommenders", "0.7.7", keras_2=True),
    "tensorflow_wavelets": Library("tensorflow-wavelets", "1.1.2", keras_2=True),
    "tensorly": Library("tensorly", "0.10.0", keras_2=True),
    "tensornetwork": Library("tensornetwork", "0.4.6"),
    "tf2onnx": Library("tf2onnx", "1.17.0"),
    "tf_agents": Library("tf-agents", "0.19.0", keras_2=True),
    "tf_fourier_features": Library("tf-fourier-features", "0.0.2.1", keras_2=True),
    "tf_keras": Library("tf_keras", "2.21.0", keras_2=True),
    "tf_keras_vis": Library("tf-keras-vis", "0.8.7"),
    "tf_siren": Library("tf-siren", "0.0.5", keras_2=True),
    "tf_slim": Library("tf_slim", "1.1.0", keras_2=True),
    "tfga": Library("tfga", "0.2.0", keras_2=True),
    "transformers": Library("transformers", "4.57.6", keras_2=True),
    "tree": Library("dm-tree", "0.1.10"),
}
