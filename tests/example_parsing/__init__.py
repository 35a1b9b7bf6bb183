"""Tests of serialized Examples."""
