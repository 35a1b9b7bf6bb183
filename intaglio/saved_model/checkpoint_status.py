"""What `tf.train.Checkpoint.restore` returns: assertions about what has been restored.

Follows https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restore.
"""

from __future__ import annotations

from typing import Any

from intaglio.runtime.eager import from_array
from intaglio.saved_model.bundle import Bundle
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
        if not self._restoration.has_matched_any:
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
        """Restores the values in a session; elsewhere they are restored already."""
        for variable, value in self._restoration.of_sessions:
            variable.load(value, session)

    def _stream_to(self, session: Any) -> None:
        """As `run_restore_ops`, and variables that are created later are restored in the session then."""
        self.run_restore_ops(session)
        self._restoration.session = session

    def initialize_or_restore(self, session: Any = None) -> None:
        """As `run_restore_ops`; variables of a plain graph without a value get their first ones."""
        restored = {id(variable) for variable, _ in self._restoration.of_sessions}
        for _, variable in ObjectGraph(self._root, self._find).variables():
            first = variable.initializer
            if first is not None and id(variable) not in restored:
                first.run(session=session)
        self.run_restore_ops(session)


class NameBasedSaverStatus:
    """The status of a checkpoint that has values by the names of variables, as `Saver` writes them.

    Variables whose names the checkpoint does not have keep their values.
    """

    def __init__(self, bundle: Bundle, root: Any, find: Children) -> None:
        self._bundle = bundle
        self._graph = ObjectGraph(root, find)
        self._missing: list[Any] = []
        for _, variable in self._graph.variables():
            name = variable.name.partition(":")[0]
            if name not in bundle:
                self._missing.append(variable)
            elif variable._resource is not None:
                variable._restore(from_array(bundle.array(name)))

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Raises AssertionError if a variable has no value in the checkpoint.

        What else is in the checkpoint does not count, unlike in one that `Checkpoint` wrote.
        """
        missing = [v for v in self._missing if not v.name.startswith("save_counter:")]
        if missing:
            shown = [f"\n    {v!r}: {[v.name.partition(':')[0]]}" for v in missing]
            raise AssertionError(
                f"Some objects had attributes which were not restored: {''.join(shown)}"
            )
        return self

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> NameBasedSaverStatus:
        """Says that not all values will be used."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores the values in a session; elsewhere they are restored already."""
        for _, variable in self._graph.variables():
            name = variable.name.partition(":")[0]
            if variable._resource is None and name in self._bundle:
                variable.load(self._bundle.array(name), session)

    def _stream_to(self, session: Any) -> None:
        """Raises NotImplementedError: names are looked up once."""
        raise NotImplementedError(
            "Streaming restore not supported from name-based checkpoints when graph building: use "
            "`run_restore_ops`, or enable eager execution."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        """As `run_restore_ops`, after variables of a plain graph have got their first values."""
        for _, variable in self._graph.variables():
            first = variable.initializer
            if first is not None:
                first.run(session=session)
        self.run_restore_ops(session)


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

    _stream_to = run_restore_ops

    def initialize_or_restore(self, session: Any = None) -> None:
        """Does nothing: variables have their first values."""
