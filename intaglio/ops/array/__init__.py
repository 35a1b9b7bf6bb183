"""Arrays made, indexed, joined, reshaped and sorted."""
