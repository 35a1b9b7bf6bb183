"""Tests of lookup tables."""
