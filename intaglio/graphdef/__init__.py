"""Graphs to TensorFlow's protocol buffers and back."""

from intaglio.graphdef import export
from intaglio.ir.graph import install_exporter

install_exporter(export)
