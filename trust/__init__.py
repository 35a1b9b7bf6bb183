"""Long-running checks: random programs, hostile files, killed processes, soak runs.

Each module is a command (`python -m trust.hunt --count 2000`); with `--write` its table goes
into `docs/trust.md`. Exit status 0 means that nothing wrong was found.
"""
