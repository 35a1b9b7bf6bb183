"""What importing the package may and may not do."""

from __future__ import annotations

import json
import subprocess
import sys

from intaglio.opdef import raw

HEAVY = ("tensorflow", "jax", "torch", "sklearn", "scipy", "pandas", "keras", "rich", "pytest")


def imported_by(statement: str) -> set[str]:
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == "", "importing prints nothing"
    return set(json.loads(run.stdout))


def test_importing_loads_nothing_heavy() -> None:
    loaded = imported_by("from intaglio import tf")
    assert not loaded & set(HEAVY)


# What is imported when a program first asks for it.
LATER = (
    "PIL",
    "asyncio",
    "concurrent.futures",
    "google.protobuf",
    "intaglio.native.llvm.library",
    "llvmlite",
    "secrets",
    "intaglio.data.dataset",
    "intaglio.graphdef.messages",
    "intaglio.saved_model.reader",
)


def test_what_few_programs_use_is_left_for_later() -> None:
    numpys = imported_by("import numpy")  # version 1 itself imports `secrets`
    assert not (imported_by("from intaglio import tf") - numpys) & set(LATER)
    assert "google.protobuf" in imported_by("from intaglio import tf; tf.saved_model")


def test_tables_of_ops_import_no_family_that_is_left_for_later() -> None:
    """What names such an op does it by `late`; the compiler's own ops it needs in any case."""
    families = {type(op).__module__ for op in raw.catalogue().values()}
    later = {f for f in families if f.startswith("intaglio.ops.")} - imported_by("import intaglio")
    assert len(later) > 30
    users = "native.pipeline native.report vectorize.mapping optimize.pipeline saved_model.writer"
    loaded = imported_by("import " + ", ".join([f"intaglio.{m}" for m in users.split()]))
    assert loaded & later == {"intaglio.ops.element_loops", "intaglio.ops.fused"}


def test_tf_is_a_module_with_the_version_it_follows() -> None:
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "import intaglio; from intaglio import tf; print(tf.__version__, intaglio.__version__)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    followed, own = run.stdout.split()
    assert followed == "2.21.0"
    assert own.count(".") == 2 and own != followed
