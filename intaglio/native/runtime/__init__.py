"""What compiled code needs while it runs: entries from Python, the thread pool, buffers, callbacks."""
