"""`AutoTrackable`: objects whose attributes checkpoints and saved models walk.

Follows https://www.tensorflow.org/guide/checkpoint, "Loading mechanics".
"""

from __future__ import annotations


class AutoTrackable:
    """An object that is saved with the variables and trackable objects in its attributes.

    `tf.Module` is one. Other classes take part by being a subclass, or by a method
    `_trackable_children(save_type)` that returns the children by name.
    """
