"""Tests of functions of the family linalg."""
