"""Tests of what runs on a GPU; without one, XLA's host takes its place in those that it can take it in."""
