"""Tests of summaries."""
