"""Saves the model with Intaglio, for TensorFlow to load: see `record`."""

from __future__ import annotations

import pathlib

from intaglio import tf
from tests.saved_model import network

if __name__ == "__main__":
    network.save(tf, str(pathlib.Path(__file__).parent / "models/ours"))
