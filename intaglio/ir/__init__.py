"""What a graph is: nodes, their values, the immutable graph and the builder."""
