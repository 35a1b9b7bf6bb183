"""Programs that several workers run."""
