"""Test cases, gradients by finite differences, benchmarks, and what a test asks of the machine."""
