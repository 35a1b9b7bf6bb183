"""The runtime of compiled code: entries from Python, the thread pool, buffers, calls of Python."""
