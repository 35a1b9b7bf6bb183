"""`intaglio run` and `python -m intaglio` run programs as Python does."""

from __future__ import annotations

import json
import os
import pathlib
import sys

import pytest

from intaglio.tools import command
from tests.tensorflow_name.process import run

PROGRAM = """\
import sys
import tensorflow as tf
print(sys.argv[1:], __name__, tf.__name__, sys.path[0])
if len(sys.argv) > 1:
    sys.exit(int(sys.argv[1]))

def divide(x):
    return x / 0

divide(1)
"""


def test_arguments_and_exit_codes_are_the_programs(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    for start in (["run", str(script)], [str(script)]):
        done = run(["-m", "intaglio", *start, "7"])
        assert done.returncode == 7
        assert done.stdout == f"['7'] __main__ intaglio.tf {tmp_path}\n"


def test_tracebacks_begin_with_the_program(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = run(["-m", "intaglio", str(script)])
    assert done.returncode == 1
    first, second, *rest = done.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert second == f'  File "{script}", line 10, in <module>'
    assert rest[-1] == "ZeroDivisionError: division by zero"


def test_modules_run_by_name(tmp_path: pathlib.Path) -> None:
    (tmp_path / "my_program.py").write_text(PROGRAM)
    done = run(["-m", "intaglio", "-m", "my_program", "3"], PYTHONPATH=str(tmp_path))
    assert done.returncode == 3
    assert done.stdout.startswith("['3'] __main__ intaglio.tf")
    missing = run(["-m", "intaglio", "run", "-m", "no_such_module"])
    assert missing.returncode == 1
    assert missing.stderr == "intaglio: No module named no_such_module\n"


def test_functions_of_a_script_are_converted(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import tensorflow as tf\n"
        "@tf.function\n"
        "def f(x):\n"
        "    if x > 0:\n"
        "        return x\n"
        "    return -x\n"
        "print(int(f(tf.constant(-3))))\n"
    )
    assert run(["-m", "intaglio", str(script)]).stdout == "3\n"


def test_notebooks_run_cell_by_cell(tmp_path: pathlib.Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": "# text"},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import tensorflow as tf\n"]},
        {"cell_type": "code", "source": "print(int(tf.add(1, 2)))"},
        {"cell_type": "code", "source": "1 / 0"},
    ]
    notebook = tmp_path / "notes.ipynb"
    notebook.write_text(json.dumps({"cells": cells}))
    done = run(["-m", "intaglio", "run", str(notebook)])
    assert done.stdout == "3\n"
    assert done.returncode == 1
    assert f"<{notebook} cell 4>" in done.stderr


NOTEBOOK = [
    "!pip install intaglio-does-not-exist \\\n  --quiet\nimport tensorflow as tf\nx = tf.constant([1, 2])",
    "%%time\ny = int(tf.reduce_sum(x))",
    "%load_ext no_such_extension\ndisplay(y)\nx?",
    "@tf.function\ndef f(x):\n  if x > 0: return x\n  return -x\nprint(int(f(tf.constant(-4))))",
    "%%no_such_magic\nthis is no Python",
]
FAILING = "def g():\n  return 1 / 0\ng()"
IN_SHELL = [
    "found = !echo {y} shell\nprint(found[0])\n!echo {y + 1}\ny + 2",
    "import asyncio\nawait asyncio.sleep(0)\n%env EXAMPLE=1\nprint(_)",
    "%%writefile child.py\nimport tensorflow as tf, keras\nprint('child', int(tf.add(1, 2)), tf.__name__)",
    "import sys\n!{sys.executable} child.py",
    "%%bash\nEXAMPLE=2 python child.py\necho bash $EXAMPLE",
]


def _notebook(path: pathlib.Path, sources: list[str]) -> str:
    cells = [{"cell_type": "code", "source": s.splitlines(True)} for s in sources]
    path.write_text(json.dumps({"cells": cells}))
    return str(path)


@pytest.mark.parametrize("shell", [True, False])
def test_what_belongs_to_ipython_in_a_notebook(tmp_path: pathlib.Path, shell: bool) -> None:
    """With IPython its shell runs it; without, it is left out. Installers and unknown magics always are."""
    if shell:
        pytest.importorskip("IPython")
    in_shell = [f"%cd {tmp_path}", *IN_SHELL] if shell else []
    cells = [*NOTEBOOK, *in_shell, FAILING, "print('not reached')"]
    notebook = _notebook(tmp_path / "notes.ipynb", cells)
    without = (
        "import importlib.util as u, sys; f = u.find_spec; sys.argv[:] = ['intaglio', 'run', sys.argv[1]];"
        "u.find_spec = lambda n, *a: None if n == 'IPython' else f(n, *a);"
        "from intaglio.tools import command; sys.exit(command.main(sys.argv[1:]))"
    )
    done = run(["-m", "intaglio", "run", notebook] if shell else ["-c", without, notebook])
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert "4" in lines and "3" in lines and "not reached" not in done.stdout
    assert f'<{notebook} cell {len(cells) - 1}>", line 2, in g' in done.stderr
    assert "return 1 / 0" in done.stderr and "interactiveshell" not in done.stderr
    if shell:
        written = "Writing child.py"
        child = "child 3 intaglio.tf"
        shown = ["3 shell", "4", "5", "env: EXAMPLE=1", "5", written, child, child, "bash 1"]
        assert lines[-9:] == shown
        assert "it changes the environment" in done.stderr
        assert "%load_ext is left out" in done.stderr and "%no_such_magic" in done.stderr


def test_wrong_calls_say_how_to_call(tmp_path: pathlib.Path) -> None:
    assert "usage: intaglio run" in run(["-m", "intaglio", "--help"]).stdout
    absent = run(["-m", "intaglio", "run", str(tmp_path / "absent.py")])
    assert absent.returncode == 2
    assert "can't open file" in absent.stderr
    assert run(["-m", "intaglio", "run"]).returncode == 2


PROCESSES = """\
import multiprocessing
import tensorflow as tf

def doubled(x):
    return float(tf.reduce_sum(tf.constant([x, x])))

if __name__ == "__main__":
    for method in ("spawn", "fork", "forkserver"):
        if method in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context(method).Pool(2) as pool:
                assert pool.map(doubled, [1.0, 2.0]) == [2.0, 4.0]
            process = multiprocessing.get_context(method).Process(target=doubled, args=(1.0,))
            process.start()
            process.join()
            assert process.exitcode == 0
    print(multiprocessing.current_process().name)
"""


def test_processes_of_a_program_have_its_tensorflow(tmp_path: pathlib.Path) -> None:
    (tmp_path / "program.py").write_text(PROCESSES)
    for start in ([str(tmp_path / "program.py")], ["-m", "program"]):
        path = os.pathsep.join([str(tmp_path), *sys.path])
        done = run(["-m", "intaglio", "run", *start], PYTHONPATH=path)
        assert (done.stdout, done.returncode) == ("MainProcess\n", 0), done.stderr


def test_a_command_names_the_extra_that_it_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "intaglio.serve.command", raising=False)
    assert command.main(["serve", "."]) == 1
    assert "pip install 'intaglio[serve]'" in capsys.readouterr().err
