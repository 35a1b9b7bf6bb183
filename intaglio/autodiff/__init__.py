"""Gradients: tapes, forward accumulators, derivatives of graphs."""

# Imported for their side effect: they register the gradients of calls, branches and loops.
from intaglio.autodiff import branches, calls, loops

__all__ = ["branches", "calls", "loops"]
