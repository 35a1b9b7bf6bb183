"""What `tf.train.Checkpoint.restore` returns: assertions about what has been restored.

Follows https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restore.
"""

from __future__ import annotations

from typing import Any

from intaglio.saved_model.object_graph import Children, ObjectGraph
from intaglio.saved_model.restoration import Restoration


class CheckpointLoadStatus:
    """What restoring has done so far, and assertions about it."""

    def __init__(self, prefix: str, root: Any, find: Children) -> None:
        self._root = root
        self._find = find
        self._restoration = Restoration(prefix, root, find)

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises AssertionError unless all values were used and all variables restored."""
        self.assert_existing_objects_matched()
        restoration = self._restoration
        for number in restoration.unused():
            raise AssertionError(
                f"Unresolved object in checkpoint {restoration.path(number)}: {restoration.nodes[number]}"
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises AssertionError if a variable of the objects was not restored."""
        self._restoration.look_again()
        graph = ObjectGraph(self._root, self._find)
        having = [*graph.variables(), *graph.holders()]
        left = [v for _, v in having if not self._restoration.has_restored(v)]
        if left:
            shown = left[:10]
            raise AssertionError(
                f"Found {len(left)} Python objects that were not bound to checkpointed values, likely due to changes in the "
                f"Python program. Showing {len(shown)} of {len(left)} unmatched objects: {shown}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises AssertionError if nothing but the root object was found."""
        self._restoration.look_again()
        if not self._restoration.has_restored_any:
            raise AssertionError(
                f"Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does "
                f"not match the Python program. The following objects have no matching checkpointed value: {[self._root]}"
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that not all values will be used: what is left over is not reported."""
        self._restoration.partial = True
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Does nothing: values are restored already."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Does nothing: values are restored already."""


class InitializationOnlyStatus:
    """The status of restoring from no checkpoint at all: every assertion fails."""

    def assert_consumed(self) -> Any:
        """Raises AssertionError."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> InitializationOnlyStatus:
        """Says that not all values will be used."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Raises AssertionError."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        """Does nothing: variables have their first values."""
