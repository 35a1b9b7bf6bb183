"""Rehearses a release: `make release-check`, `python -m tests.release FOLDER`. Nothing is published.

Wheel and sdist are built, `twine check` reads their metadata, each is installed into an environment of
its own, and there a program is traced, explained and drawn, and the command run.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).parents[1]
PROGRAM = """
import pathlib, sys
import intaglio
from intaglio import tf

assert pathlib.Path(intaglio.__file__).is_relative_to(sys.prefix), intaglio.__file__

@tf.function
def f(x):
    return tf.nn.relu(x) * 2.0

assert f(tf.constant([-1.0, 3.0])).numpy().tolist() == [0.0, 6.0]
assert "Relu" in f.to_text() and "<svg" in f.graph().svg
assert intaglio.explain_error("IG001").startswith("## ")
"""
# What the repository has and a wheel must not.
NOT_IN_A_WHEEL = ("tests/", "benchmarks/", "docs/", "trust/")


# Python that does not see the checkout.
OUTSIDE = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}


def run(*command: str | pathlib.Path, cwd: pathlib.Path = ROOT) -> None:
    """Runs a command outside of the checkout's imports. Raises CalledProcessError if it fails."""
    print("$", *[str(c) for c in command], flush=True)
    subprocess.run([str(c) for c in command], check=True, cwd=cwd, env=OUTSIDE)


def environment(folder: pathlib.Path) -> pathlib.Path:
    """The Python of a new virtual environment."""
    venv.create(folder, with_pip=True, clear=True)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def main() -> None:
    """The rehearsal, in the folder of the first argument."""
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    builder = environment(folder / "builder")
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(builder, *pip, "build", "twine")
    run(builder, "-m", "build", "--outdir", folder / "dist", ROOT)
    built = sorted((folder / "dist").iterdir())
    run(builder, "-m", "twine", "check", "--strict", *built)
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    for file in built:
        python = environment(folder / f"try-{file.suffix[1:]}")
        run(python, *pip, f"{file}[jit]")
        run(python, program, cwd=folder)
        run(python, "-m", "intaglio", "doctor", cwd=folder)
        where = subprocess.check_output(
            [python, "-c", "import intaglio; print(intaglio.__path__[0])"],
            text=True,
            cwd=folder,
            env=OUTSIDE,
        )
        stray = [n for n in NOT_IN_A_WHEEL if (pathlib.Path(where.strip()).parent / n).exists()]
        assert not stray, stray
    print(f"{', '.join([f.name for f in built])}: built, checked, installed, run")


if __name__ == "__main__":
    main()
