"""Requirements are version bounds, and the tests can be run at the lower ones."""

from __future__ import annotations

import tomllib

import pytest

from tests import lowest_versions

PROJECT = tomllib.loads(lowest_versions.PROJECT.read_text(encoding="utf-8"))["project"]


def test_every_requirement_has_a_lower_bound() -> None:
    lower = lowest_versions.bounds(PROJECT)
    assert {"numpy", "ml_dtypes", "protobuf", "pillow", "llvmlite", "keras"} <= set(lower)
    without = {"dependencies": ["numpy"], "optional-dependencies": {"dev": []}}
    with pytest.raises(ValueError, match="'numpy' has no lower bound"):
        lowest_versions.bounds(without)


def test_the_lowest_versions_are_the_bounds_and_the_tools_are_those_of_dev() -> None:
    project = {
        "dependencies": ["numpy>=1.26", "re2>=1.1; python_version < '3.15'"],
        "optional-dependencies": {
            "keras": ["keras[x]>=3.15,<3.16"],
            "onnx": ["onnx>=1"],
            "dev": ["keras==3.15.1", "numpy==2.4.6", "pytest==9.2.0", "re2==1.2"],
        },
    }
    assert lowest_versions.lowest(project) == [
        "keras==3.15",
        "numpy==1.26",
        "pytest==9.2.0",
        "re2==1.1",
    ]


def test_what_the_examples_and_the_main_extras_need_is_in_dev() -> None:
    pinned = {pin.partition("==")[0] for pin in PROJECT["optional-dependencies"]["dev"]}
    for extra in ("jit", "keras", "examples", "remote", "serve", "tensorboard"):
        names = lowest_versions.bounds(
            {"dependencies": PROJECT["optional-dependencies"][extra], "optional-dependencies": {}}
        )
        assert set(names) <= pinned, extra
