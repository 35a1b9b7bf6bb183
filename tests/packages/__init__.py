"""The distributions of the repository as they are installed."""
