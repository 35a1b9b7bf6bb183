"""`intaglio explain | report | coverage | doctor | cache`, and `run -`."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from tests.tensorflow_name.process import run

PROGRAM = """\
import sys
import tensorflow as tf

@tf.function
def step(x, lam):
    return x * lam

for lam in (0.25, 0.75):
    step(tf.ones([4]), lam)
print("arguments", sys.argv[1:])
sys.exit(5)
"""


@pytest.fixture
def script(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def test_explain_tells_after_the_program(script: str) -> None:
    done = run(["-m", "intaglio", "explain", script, "--flag", "7"])
    assert done.returncode == 5
    assert done.stdout.startswith("arguments ['--flag', '7']\n")
    assert "1 traced functions, 1 of them traced more than once" in done.stdout
    assert "lam was 0.25, now 0.75" in done.stdout


def test_explain_as_json(script: str) -> None:
    done = run(["-m", "intaglio", "explain", "--json", script])
    (told,) = json.loads(done.stdout.partition("\n")[2])
    assert told["name"] == "step" and told["traces"] == 2


def test_report_writes_a_file(script: str, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.html"
    done = run(["-m", "intaglio", "report", "-o", str(out), script])
    assert done.returncode == 5 and f"wrote {out}" in done.stderr
    assert "lam was 0.25" in out.read_text(encoding="utf-8")


def test_run_from_standard_input() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "intaglio", "run", "-", "a"],
        input=PROGRAM, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 5 and done.stdout == "arguments ['a']\n"


def test_coverage_names_what_is_missing(tmp_path: pathlib.Path) -> None:
    source = "import tensorflow as tf\nfrom tensorflow import nn as layers\n"
    source += "x = tf.nn.relu(tf.constant(1.0))\ny = layers.no_such_layer(x)\nz = tf.compat.v1.Session()\n"
    path = tmp_path / "program.py"
    path.write_text(source)
    done = run(["-m", "intaglio", "coverage", "--json", str(path)])
    assert done.returncode == 1
    told = {use["name"]: use for use in json.loads(done.stdout)}
    assert told["tf.nn.relu"]["status"] == "available" and told["tf.nn.relu"]["line"] == 3
    assert told["tf.nn.no_such_layer"]["status"] == "missing"
    assert told["tf.nn.no_such_layer"]["line"] == 4
    path.write_text("import tensorflow as tf\nprint(tf.add(1, 2).shape.rank)\n")
    done = run(["-m", "intaglio", "coverage", str(path)])
    assert done.returncode == 0 and "0 of them not available" in done.stdout


def test_doctor_knows_the_environment() -> None:
    done = run(["-m", "intaglio", "doctor", "--json"], INTAGLIO_CACHE="", INTAGLIO_VERIFY="0")
    told = json.loads(done.stdout)
    assert told["python"] == ".".join(map(str, sys.version_info[:3]))
    assert told["variables"]["INTAGLIO_CACHE"] == "" and told["cache"] is None
    assert done.returncode == bool(told["problems"])
    done = run(["-m", "intaglio", "doctor"], INTAGLIO_VERIFY="1")
    assert done.returncode == 1 and "problem: INTAGLIO_VERIFY=1" in done.stdout


def test_cache_counts_and_clears(tmp_path: pathlib.Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "one.o").write_bytes(b"12345")
    (tmp_path / "notes.txt").write_text("mine")
    done = run(["-m", "intaglio", "cache", "--json"], INTAGLIO_CACHE=str(tmp_path))
    assert json.loads(done.stdout)["bytes"] == 5 and (tmp_path / "one.o").exists()
    run(["-m", "intaglio", "cache", "clear"], INTAGLIO_CACHE=str(tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("command", ["explain", "report", "coverage", "doctor", "cache"])
def test_every_command_has_help(command: str) -> None:
    done = run(["-m", "intaglio", command, "--help"])
    assert done.returncode == 0 and "--json" in done.stdout
    wrong = run(["-m", "intaglio", command, "--no-such-option"])
    assert wrong.returncode == 2
