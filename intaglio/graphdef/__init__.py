"""Graphs to TensorFlow's protocol buffers and back."""

from intaglio.base.shapes import install_writer
from intaglio.graphdef.exporter import Exporter
from intaglio.graphdef.tensors import shape_proto
from intaglio.ir.graph import install_exporter

install_exporter(Exporter())
install_writer(shape_proto)
