"""The benchmark of the GPU runs, with small sizes on XLA's host, and computes what JAX does."""

from __future__ import annotations

import json
import pathlib

import pytest

from benchmarks import gpu
from intaglio import tf, xla

# XLA's host has no product of bfloat16 with sums of float32, which JAX' own step asks for.
NAMES = [n for n in gpu.ROWS if "mixed" not in n]


@pytest.mark.parametrize("name", NAMES)
def test_a_row(name: str) -> None:
    with xla.host_as("GPU"):
        row = gpu.measured(name, small=True, seconds=0.0)
    ours, jaxs = row["values"]
    if "ResNet" not in name:  # whose boxes are of other random numbers
        assert ours == pytest.approx(jaxs, rel=1e-4)
    assert row["copies"] == 0
    assert row["ms"] > 0 and row["jax_ms"] > 0


def test_the_page_says_what_was_not_measured() -> None:
    row = {"ms": 2.0, "jax_ms": 1.0, "first": 3.0, "jax_first": 1.0, "copies": 0, "hidden": ""}
    text = gpu.page({"eager a + b": row}, "a device")
    assert "| eager a + b | 2.000 | 1.000 | 2.00 | 1.5 | 0 | 3.0 | 1.0 |" in text
    assert text.count("not measured") == len(gpu.ROWS) - 1


def test_without_a_gpu_nothing_is_measured(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xla, "accelerators", list)
    gpu.main(["--results", str(tmp_path / "rows")])
    assert capsys.readouterr().out.count("not measured") == len(gpu.ROWS)


def test_an_error_leaves_the_other_rows(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(small: bool) -> gpu.Steps:
        raise RuntimeError("no memory")

    monkeypatch.setitem(gpu.ROWS, "eager a + b", (fails, 1, None))
    names = ["eager a + b", "call of a small function"]
    gpu._worker(names, True, 0.0, tmp_path / "rows")
    first, second = [json.loads(r) for r in (tmp_path / "rows").read_text().splitlines()]
    assert first["error"] == "RuntimeError: no memory" and "ms" in second
    assert tf.config.list_physical_devices("GPU") == [] or xla.accelerators()
