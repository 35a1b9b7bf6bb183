"""Branches, loops, calls, tensor lists, and where graphs begin."""
