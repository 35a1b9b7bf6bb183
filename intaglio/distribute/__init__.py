"""Strategies that share work among devices, as far as one device goes."""
