"""Random numbers of distributions, with and without state."""
