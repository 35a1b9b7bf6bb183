"""Tests of `intaglio/type_specs/`."""
