"""Graph passes before lowering: fusion, store forwarding, expansion, partitioning."""
