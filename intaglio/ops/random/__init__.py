"""Random numbers, by Philox counters."""
