"""Checkpoints of TensorFlow 1 as files: which there are, which is newest, removing them.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/update_checkpoint_state and the
functions beside it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

from intaglio.base import files
from intaglio.graphdef.declarations import as_text
from intaglio.graphdef.saved_messages import CheckpointState
from intaglio.saved_model.checkpoint import STATE_FILE


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint with this prefix."""
    return os.path.isfile(f"{os.fsdecode(checkpoint_prefix)}.index")


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[Any]) -> list[float]:
    """When the checkpoints were written, in seconds; those that do not exist are left out."""
    paths = [f"{os.fsdecode(p)}.index" for p in checkpoint_prefixes]
    return [os.stat(p).st_mtime for p in paths if os.path.isfile(p)]


def remove_checkpoint(
    checkpoint_prefix: Any, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Removes the files of a checkpoint, of its graph too."""
    prefix = os.fsdecode(checkpoint_prefix)
    found = glob.glob(f"{glob.escape(prefix)}.data-?????-of-?????")
    for path in (*found, f"{prefix}.index", f"{prefix}.{meta_graph_suffix}"):
        if os.path.isfile(path):
            os.remove(path)


def generate_checkpoint_state_proto(
    save_dir: Any,
    model_checkpoint_path: Any,
    all_model_checkpoint_paths: Sequence[Any] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """A CheckpointState message; the newest checkpoint is the last of all paths.

    Paths are relative to the folder where it is relative itself. Raises ValueError for another number of
    times than of paths.
    """
    folder = os.fsdecode(save_dir)
    newest = os.fsdecode(model_checkpoint_path)
    paths = [os.fsdecode(p) for p in all_model_checkpoint_paths or ()]
    if not paths or paths[-1] != newest:
        paths.append(newest)
    times = list(all_model_checkpoint_timestamps or ())
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {times})"
        )
    if not os.path.isabs(folder):
        newest, *paths = [
            p if os.path.isabs(p) else os.path.relpath(p, folder) for p in (newest, *paths)
        ]
    return CheckpointState(
        model_checkpoint_path=newest,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp or 0.0,
    )


def update_checkpoint_state(
    save_dir: Any,
    model_checkpoint_path: Any,
    all_model_checkpoint_paths: Sequence[Any] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the file of a folder that names its checkpoints, the newest first.

    Raises RuntimeError if a checkpoint has the name of that file.
    """
    write_state(
        os.fsdecode(save_dir),
        generate_checkpoint_state_proto(
            save_dir,
            model_checkpoint_path,
            all_model_checkpoint_paths,
            all_model_checkpoint_timestamps,
            last_preserved_timestamp,
        ),
        latest_filename,
    )


def write_state(folder: str, state: Any, latest_filename: str | None = None) -> None:
    """Writes a CheckpointState to a folder. Raises RuntimeError if a checkpoint has its file's name."""
    path = os.path.join(folder, latest_filename or STATE_FILE)
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{path}' conflicts with path used for checkpoint state.  Please use a different save path."
        )
    files.write(path, as_text(state).encode())
