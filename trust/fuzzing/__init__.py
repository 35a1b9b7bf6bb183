"""Structured fuzzers: each format's inputs are mutated by its grammar, with checksums computed again."""
