"""Names that `tf` lacks: the error says what they would need, and where to look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from intaglio import tf
from intaglio.opdef import absent_names

NEEDS = Path(absent_names.__file__).with_name("needs.json")


@pytest.mark.parametrize(
    ("place", "name", "said"),
    [
        ("tf", "mlir", "Intaglio has no tf.mlir"),
        ("tf", "contrib", "TensorFlow 2.21 documents no tf.contrib either"),
        ("tf.image", "resize_twice", "documents no tf.image.resize_twice either"),
        ("tf.nn", "foo", "documents no tf.nn.foo either"),
        ("tf", "lite", "'lite': docs/coverage.md"),
    ],
)
def test_every_namespace_raises_the_error(place: str, name: str, said: str) -> None:
    module: Any = tf
    for part in place.split(".")[1:]:
        module = getattr(module, part)
    with pytest.raises(AttributeError, match=r"docs/coverage\.md") as error:
        getattr(module, name)
    assert said in str(error.value) and not hasattr(module, name)


def test_the_op_types_that_are_missing_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs.json").write_text('{"math.dream": "Add NoSuchOp Dream"}')
    monkeypatch.setattr(absent_names, "__file__", str(tmp_path / "absent_names.py"))
    with pytest.raises(AttributeError, match="the op types NoSuchOp, Dream; docs"):
        getattr(tf.math, "dream")  # noqa: B009 - not known to type checkers


def test_the_table_has_functions_that_exist() -> None:
    table = json.loads(NEEDS.read_text(encoding="utf-8"))
    assert table["nn.top_k"] == "TopKV2" and "linalg.matmul" in table
