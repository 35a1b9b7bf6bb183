"""The examples in the docstrings of whole namespaces give what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

from intaglio import tf
from intaglio.tf.experimental.numpy import np_config

PACKAGES = [
    tf.experimental.numpy,
    tf.image,
    tf.io,
    tf.linalg,
    tf.lookup,
    tf.math,
    tf.nn,
    tf.profiler,
    tf.quantization,
    tf.ragged,
    tf.random,
    tf.saved_model,
    tf.signal,
    tf.sparse,
    tf.summary,
    tf.test,
    tf.train,
]
MODULES = [
    f"{package.__name__}.{found.name}"
    for package in PACKAGES
    for found in pkgutil.iter_modules(package.__path__)
    if found.name != "experimental"
] + [
    "intaglio.tf.sets",
    "intaglio.tf.edit_distances",
    "intaglio.tf.nn.sparse_embeddings",
    "intaglio.tf.io.examples",
    "intaglio.tf.io.sparse_strings",
    "intaglio.tf.data.tables",
    "intaglio.tf.arranging",
    "intaglio.tf.arrays",
    "intaglio.tf.audio",
    "intaglio.tf.bitwise",
    "intaglio.tf.control_flow",
    "intaglio.tf.convolution_gradients",
    "intaglio.tf.debugging",
    "intaglio.tf.diagonals",
    "intaglio.tf.indexing",
    "intaglio.tf.ordering",
    "intaglio.tf.python_functions",
    "intaglio.tf.queue",
    "intaglio.tf.strings",
    "intaglio.tf.tensor_protos",
    "intaglio.base.nest",
    "intaglio.saved_model.checkpoint",
    "intaglio.saved_model.fingerprint",
    "intaglio.saved_model.views",
    "intaglio.state.python_state",
    "intaglio.state.trackable_resource",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    names = {"tf": tf, "np": np, "tnp": tf.experimental.numpy}
    try:
        tried = doctest.testmod(module, extraglobs=names)
    finally:
        np_config.disable_numpy_behavior()
    assert not tried.failed
    public = [
        n
        for n in getattr(module, "__all__", ())
        if inspect.isfunction(getattr(module, n))
    ]
    silent = [n for n in public if ">>>" not in (getattr(module, n).__doc__ or "")]
    assert not silent
