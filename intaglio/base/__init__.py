"""The lowest layer: dtypes, shapes, nested structures, errors, origins, devices, files."""
