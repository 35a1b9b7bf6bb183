"""An environment in which `tensorflow` is Intaglio: programs, tests and processes need no command."""

from __future__ import annotations

import csv
import pathlib

import pytest

from intaglio import tf
from tests.packages.environments import Environment

WHICH = "import tensorflow as tf; print(tf.__name__, int(tf.add(1, 2)))"
INTAGLIO = "intaglio.tf 3\n"


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> Environment:
    return Environment(tmp_path / "venv")


@pytest.fixture
def active(environment: Environment) -> Environment:
    done = environment.run(["-m", "intaglio", "activate"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "`import tensorflow` gives Intaglio" in done.stdout
    assert str(environment.folder) in done.stdout
    return environment


PROCESSES = """\
import multiprocessing
import subprocess
import sys
import tensorflow as tf

def doubled(x):
    return float(tf.reduce_sum(tf.constant([x, x])))

if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        if method in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context(method).Pool(1) as pool:
                print(pool.map(doubled, [1.0, 2.0]))
    subprocess.run([sys.executable, "-c", "import tensorflow; print(tensorflow.__name__)"])
"""


def test_programs_and_their_processes_need_no_command(active: Environment) -> None:
    (active.folder / "program.py").write_text(PROCESSES)
    done = active.run(["-u", "program.py"])
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == {"[2.0, 4.0]", "intaglio.tf"}


def test_pytest_needs_no_command(active: Environment) -> None:
    (active.folder / "test_mine.py").write_text(
        "import tensorflow as tf\nfrom tensorflow.python.eager import context\n"
        "def test_mine():\n    assert int(tf.add(1, 2)) == 3 and context.executing_eagerly()\n"
    )
    done = active.run(["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"])
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_module_and_its_metadata_are_found(active: Environment) -> None:
    said = active.printed(
        "import importlib.metadata as metadata, importlib.util as util\n"
        "spec = util.find_spec('tensorflow')\n"
        "print(spec.name, spec.origin)\n"
        "import tensorflow, intaglio.tf\n"
        "print(tensorflow is intaglio.tf, util.find_spec('tensorflow').name)\n"
        "print(metadata.version('tensorflow'), metadata.packages_distributions()['tensorflow'])\n"
        "print(metadata.requires('tensorflow'))\n"
    )
    found, same, version, requires = said.splitlines()
    assert found.startswith("tensorflow ") and found.endswith("__init__.py")
    assert same == "True tensorflow"
    assert version == f"{tf.__version__}+intaglio ['tensorflow']"
    assert requires == "['intaglio[jit,keras]']"


def test_nothing_is_imported_before_tensorflow_is(active: Environment) -> None:
    said = active.printed("import sys; print([m for m in sys.modules if m.startswith('intaglio')])")
    assert said == "[]\n"


def test_deactivate_takes_all_of_it_back(active: Environment) -> None:
    record = next(active.packages.glob("tensorflow-*.dist-info")) / "RECORD"
    with record.open(newline="") as lines:
        listed = {row[0] for row in csv.reader(lines)}
    there = {
        p.relative_to(active.packages).as_posix()
        for p in active.packages.rglob("*")
        if p.is_file() and p.parent.name != "__pycache__" and p.name != "a_tests.pth"
    }
    assert listed == there, "RECORD lists every file"

    done = active.run(["-m", "intaglio", "deactivate"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "no longer Intaglio" in done.stdout
    assert [p.name for p in active.packages.iterdir()] == ["a_tests.pth"]
    assert "No module named 'tensorflow'" in active.run(["-c", WHICH]).stderr
    again = active.run(["-m", "intaglio", "deactivate"])
    assert again.returncode == 0 and "nothing to do" in again.stdout


def test_activating_again_changes_nothing(active: Environment) -> None:
    def files() -> dict[str, bytes]:
        found = [p for p in active.packages.rglob("*") if p.is_file() and p.suffix != ".pyc"]
        return {p.name: p.read_bytes() for p in found}

    before = files()
    assert active.run(["-m", "intaglio", "activate"]).returncode == 0
    assert files() == before
    assert active.printed(WHICH) == INTAGLIO


def test_the_variable_decides_for_a_process_and_its_children(active: Environment) -> None:
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WHICH!r}])"
    off = active.run(["-c", nested], INTAGLIO_TENSORFLOW="0")
    assert "No module named 'tensorflow'" in off.stderr
    assert active.printed(nested, INTAGLIO_TENSORFLOW="1") == INTAGLIO


def test_beside_tensorflow_importing_is_an_error_that_says_what_to_do(active: Environment) -> None:
    active.add_package("tensorflow", "2.21.0")
    done = active.run(["-c", WHICH])
    assert done.returncode == 1
    assert "ImportError: `import tensorflow` is ambiguous here" in done.stderr
    assert str(active.packages / "tensorflow") in done.stderr
    assert "pip uninstall tensorflow-intaglio" in done.stderr
    assert "intaglio deactivate" in done.stderr
    asked = "import importlib.util as util; print(util.find_spec('tensorflow').name)"
    assert active.printed(asked) == "tensorflow\n", "who only asks is not stopped"
    assert active.printed(WHICH, INTAGLIO_TENSORFLOW="1") == INTAGLIO
    version = "import tensorflow; print(tensorflow.__version__, tensorflow.__name__)"
    assert active.printed(version, INTAGLIO_TENSORFLOW="0") == "2.21.0 tensorflow\n"
    assert "no longer" in active.run(["-m", "intaglio", "deactivate"]).stdout
    assert active.printed(version) == "2.21.0 tensorflow\n", "it is as it was"


@pytest.mark.parametrize("name", ["tensorflow", "tensorflow-cpu", "tf-nightly"])
def test_activate_refuses_where_tensorflow_is_installed(
    environment: Environment, name: str
) -> None:
    environment.add_package(name, "2.20.0")
    done = environment.run(["-m", "intaglio", "activate"])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"intaglio: {name} 2.20.0 is installed in ")
    assert "intaglio run program.py" in done.stderr
    assert not [*environment.packages.glob("*intaglio*")]


def test_activate_refuses_where_a_package_has_no_metadata(environment: Environment) -> None:
    (environment.packages / "tensorflow").mkdir()
    (environment.packages / "tensorflow" / "__init__.py").touch()
    done = environment.run(["-m", "intaglio", "activate"])
    assert done.returncode == 1 and "that pip does not know" in done.stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("activate", "is Intaglio there already"),
        ("deactivate", "pip uninstall tensorflow-intaglio"),
    ],
)
def test_what_pip_installed_is_pips(environment: Environment, command: str, said: str) -> None:
    environment.add_package("tensorflow_intaglio", "0.1.0")
    done = environment.run(["-m", "intaglio", command])
    assert done.returncode == 1 and said in done.stderr


def test_without_intaglio_the_name_says_what_is_missing(active: Environment) -> None:
    program = (
        "import sys\nsys.path[:] = [p for p in sys.path if 'site-packages' in p or 'lib' in p]\n"
        "sys.modules['intaglio'] = None\n"
        "class No:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'intaglio':\n"
        "            raise ModuleNotFoundError(\"No module named 'intaglio'\", name=name)\n"
        "del sys.modules['intaglio']\nsys.meta_path.insert(0, No())\n"
        "try:\n    import tensorflow\nexcept ImportError as error:\n    print(error)\n"
    )
    assert "`tensorflow` is Intaglio, which is not installed" in active.printed(program)


def test_wrong_calls_say_how_to_call(environment: Environment) -> None:
    done = environment.run(["-m", "intaglio", "activate", "--all"])
    assert done.returncode == 2 and "intaglio activate | deactivate" in done.stderr
