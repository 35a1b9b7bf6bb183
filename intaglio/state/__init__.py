"""Variables, modules, and the tracking of objects for checkpoints."""
