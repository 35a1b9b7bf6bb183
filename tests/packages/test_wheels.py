"""The wheel of tensorflow-intaglio, built and installed: pip finds `tensorflow`, and only ours."""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys
import zipfile

import pytest

from intaglio import tf
from tests.packages.environments import ROOT, Environment

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None,
    reason="hatchling builds the wheel: pip install 'intaglio[dev]'",
)
FILES = ROOT / "intaglio" / "tools" / "environment"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT / "packages" / "tensorflow-intaglio",
        check=True,
        capture_output=True,
    )
    (found,) = folder.iterdir()
    return found


@pytest.fixture
def environment(tmp_path: pathlib.Path, wheel: pathlib.Path) -> Environment:
    made = Environment(tmp_path / "venv")
    assert pip(made, "install", "--no-index", "--no-deps", str(wheel)) == ""
    return made


def pip(environment: Environment, *arguments: str) -> str:
    """Runs pip for an environment; returns its errors."""
    python = ["--python", str(environment.python), "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *python, *arguments, "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else ""


def test_the_wheel_has_the_files_that_activate_writes(wheel: pathlib.Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        start = archive.read("tensorflow_intaglio/start.py")
        (metadata,) = [n for n in names if n.partition("/")[2] == "METADATA"]
        own = archive.read(metadata)
    assert start == (FILES / "start.py").read_bytes()
    assert b"Requires-Dist: intaglio[jit,keras]>=" in own
    top = {name.partition("/")[0] for name in names}
    assert not any(name == "tensorflow" for name in top), "no file of TensorFlow's is overwritten"
    assert len([name for name in top if name.endswith(".dist-info")]) == 1


def test_programs_and_pip_find_tensorflow(environment: Environment) -> None:
    said = environment.printed(
        "import importlib.metadata as metadata\n"
        "print(metadata.version('tensorflow'), metadata.version('tensorflow-intaglio'))\n"
        "import tensorflow.math as math, intaglio.tf\n"
        "print(math is intaglio.tf.math)\n"
    )
    versions, same = said.splitlines()
    assert versions.startswith(f"{tf.__version__}+intaglio ") and same == "True"
    for requirement in ("tensorflow", "tensorflow>=2.2", f"tensorflow=={tf.__version__}"):
        assert pip(environment, "install", "--no-index", "--no-deps", requirement) == ""
    assert "No matching distribution" in pip(environment, "install", "--no-index", "tensorflow<2")


def test_pip_leaves_its_removal_to_who_installed_it(environment: Environment) -> None:
    refusal = pip(environment, "uninstall", "--yes", "tensorflow")
    assert "tensorflow-intaglio" in refusal, "it says who installed the files"
    assert pip(environment, "uninstall", "--yes", "tensorflow-intaglio") == ""
    assert [p.name for p in environment.packages.iterdir()] == ["a_tests.pth"]


def test_pip_can_take_an_activation_away(tmp_path: pathlib.Path) -> None:
    made = Environment(tmp_path / "venv")
    assert made.run(["-m", "intaglio", "activate"]).returncode == 0
    assert pip(made, "uninstall", "--yes", "tensorflow") == ""
    assert [p.name for p in made.packages.iterdir()] == ["a_tests.pth"]
