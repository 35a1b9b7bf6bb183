"""The catalogue: every op once, by family. Importing this package declares them all."""

from intaglio.ops import arithmetic, graph_inputs

__all__ = ["arithmetic", "graph_inputs"]
