"""Graph to graph: passes that keep every result bit for bit."""
