"""Saves the models with Intaglio, for TensorFlow to load: see `record`."""

from __future__ import annotations

import pathlib

from intaglio import tf
from tests.saved_model import network, tables

if __name__ == "__main__":
    models = pathlib.Path(__file__).parent / "models"
    network.save(tf, str(models / "ours"))
    tables.save(tf, str(models / "our_tables"))
