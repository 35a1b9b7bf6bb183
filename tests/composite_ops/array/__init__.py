"""Tests of functions of the family array."""
