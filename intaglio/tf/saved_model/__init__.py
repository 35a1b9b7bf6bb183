"""`tf.saved_model`: models on disk, with their functions and values.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model and
https://www.tensorflow.org/guide/saved_model.
"""

from __future__ import annotations

from typing import Any

from intaglio.saved_model import reader, writer
from intaglio.saved_model.options import LoadOptions, SaveOptions
from intaglio.state.trackable_resource import Asset
from intaglio.tf.saved_model import experimental

ASSETS_DIRECTORY = "assets"
ASSETS_KEY = "saved_model_assets"
CLASSIFY_INPUTS = "inputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
DEBUG_DIRECTORY = "debug"
DEBUG_INFO_FILENAME_PB = "saved_model_debug_info.pb"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
GPU = "gpu"
PREDICT_INPUTS = "inputs"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
PREDICT_OUTPUTS = "outputs"
REGRESS_INPUTS = "inputs"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
REGRESS_OUTPUTS = "outputs"
SAVED_MODEL_FILENAME_PB = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT = "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
SERVING = "serve"
TPU = "tpu"
TRAINING = "train"
VARIABLES_DIRECTORY = "variables"
VARIABLES_FILENAME = "variables"


def save(
    obj: Any, export_dir: str, signatures: Any = None, options: SaveOptions | None = None
) -> None:
    """Saves the object, with all that its attributes lead to, to a folder.

    `signatures` is a `tf.function` with an input signature, a concrete function, or a dict
    of them; without it, the object's only function of that kind is `serving_default`. A
    model that is there already is replaced once the new one is complete.

    Raises:
      ValueError: the object is no `tf.Module` or its like, or a signature is no function,
        or does not return named tensors.
      AssertionError: inside a traced function, or a signature uses an untracked variable.
      KeyError: a function uses a variable that no attribute leads to.

    `options` is a `tf.saved_model.SaveOptions`.

    >>> import tempfile
    >>> module = tf.Module()
    >>> module.v = tf.Variable(3.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.saved_model.save(module, folder)
    ...     print(tf.saved_model.load(folder).v.numpy())
    3.0
    """
    writer.save(obj, export_dir, signatures, options)


def load(export_dir: str, tags: Any = None, options: LoadOptions | None = None) -> Any:
    """The object that was saved: with variables, `tf.function`s and `signatures`.

    Models of TensorFlow are read as well. Nothing of the model runs while it is loaded but the
    functions that make and fill its look-up tables and other resources; functions that would call
    Python are refused. `assets` of the model are objects with their `asset_path`.

    Raises:
      OSError: there is no model.
      ValueError: `tags` are not those of the model, or its files contradict themselves.
      DataLossError: (tf.errors) the files of its variables are damaged.
      NotImplementedError: the model was saved by TensorFlow 1, or as text.

    `options` is a `tf.saved_model.LoadOptions`.

    >>> import tempfile
    >>> module = tf.Module()
    >>> module.square = tf.function(
    ...     lambda x: x * x, input_signature=[tf.TensorSpec([])]
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.saved_model.save(module, folder)
    ...     print(tf.saved_model.load(folder).square(3.0).numpy())
    9.0
    """
    return reader.load(export_dir, tags, options)


def contains_saved_model(export_dir: str) -> bool:
    """True if the folder contains a saved model.

    >>> tf.saved_model.contains_saved_model("no/such/folder")
    False
    """
    return reader.contains_saved_model(export_dir)


__all__ = [
    "ASSETS_DIRECTORY",
    "ASSETS_KEY",
    "Asset",
    "CLASSIFY_INPUTS",
    "CLASSIFY_METHOD_NAME",
    "CLASSIFY_OUTPUT_CLASSES",
    "CLASSIFY_OUTPUT_SCORES",
    "DEBUG_DIRECTORY",
    "DEBUG_INFO_FILENAME_PB",
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
    "GPU",
    "LoadOptions",
    "PREDICT_INPUTS",
    "PREDICT_METHOD_NAME",
    "PREDICT_OUTPUTS",
    "REGRESS_INPUTS",
    "REGRESS_METHOD_NAME",
    "REGRESS_OUTPUTS",
    "SAVED_MODEL_FILENAME_PB",
    "SAVED_MODEL_FILENAME_PBTXT",
    "SAVED_MODEL_SCHEMA_VERSION",
    "SERVING",
    "SaveOptions",
    "TPU",
    "TRAINING",
    "VARIABLES_DIRECTORY",
    "VARIABLES_FILENAME",
    "experimental",
    "contains_saved_model",
    "load",
    "save",
]
