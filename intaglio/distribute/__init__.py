"""Strategies that share work among devices of the host and among processes; clusters by name."""
