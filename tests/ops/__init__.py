"""Tests that every op of the catalogue goes through."""
