"""Gradients: tapes, forward accumulators, derivatives of graphs."""

# Imported for what they register: gradients of calls, branches and loops.
from intaglio.autodiff import branches, calls, loops

__all__ = ["branches", "calls", "loops"]
