"""Test cases, gradients by finite differences, benchmarks, and queries of the machine."""
