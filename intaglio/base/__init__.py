"""What every layer needs and nothing above it: dtypes, shapes, structures, errors, origins."""
