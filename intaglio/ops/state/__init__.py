"""State behind handles: variables, tables, locks, files."""
