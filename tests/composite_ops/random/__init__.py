"""Tests of functions of the family random."""
