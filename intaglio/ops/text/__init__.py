"""Strings: cut, joined, searched, hashed, formatted."""
