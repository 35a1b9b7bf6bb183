"""Tests of `intaglio/native/passes/`."""
