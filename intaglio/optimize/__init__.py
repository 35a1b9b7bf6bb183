"""The optimizer's passes. All keep results bit for bit, except two that reassociate sums in loops."""
