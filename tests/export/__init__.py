"""Exported libraries, called by programs in C."""
