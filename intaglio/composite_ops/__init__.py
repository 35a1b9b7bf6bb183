"""Functions of tensors that are composed of several ops, by family as in `ops/`.

What the public face re-exports, and what the layers between here and there use of it.
"""
