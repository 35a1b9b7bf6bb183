"""The server: requests and responses, versions, batches, limits, the command."""
