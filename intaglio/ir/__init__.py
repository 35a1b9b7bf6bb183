"""The intermediate representation: nodes, values, the immutable graph, its builder, rewriter and verifier."""
