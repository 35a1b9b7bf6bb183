"""Graph to graph: passes that keep every result bit for bit, but for two about products in loops."""
