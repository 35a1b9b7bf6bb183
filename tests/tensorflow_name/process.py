"""Programs in processes of their own: the name `tensorflow` is a matter of the whole process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence


def run(arguments: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Python with these arguments."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KERAS_BACKEND": "tensorflow", **environment},
    )


def printed_by(program: str, **environment: str) -> list[str]:
    """The lines that a program prints; it must end well."""
    done = run(["-c", textwrap.dedent(program)], **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
