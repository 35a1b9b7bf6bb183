"""Side-by-side measurements with the peers; `python -m benchmarks` writes README.md."""
