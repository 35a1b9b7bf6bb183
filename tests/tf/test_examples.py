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

PACKAGES = [tf.experimental.numpy, tf.image, tf.io, tf.quantization, tf.signal]
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
    "intaglio.tf.audio",
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
