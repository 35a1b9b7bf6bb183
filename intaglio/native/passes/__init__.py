"""Graph to graph for machine code: fusion, forwarding of stores, expansion, partitioning."""
