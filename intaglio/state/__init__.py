"""Variables, modules, and the order in which modules are walked."""
