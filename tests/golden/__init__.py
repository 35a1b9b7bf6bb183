"""Graphs before and after passes, as text: `pass.case.before.txt` and `.after.txt`."""
