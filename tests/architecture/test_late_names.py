"""Names that packages import late are no modules' of theirs: an import would put the module there."""

from __future__ import annotations

import ast

from tests.architecture.sources import PACKAGE, name_of, tree_of


def late_names(tree: ast.Module) -> dict[str, str]:
    """Names and targets of `later.attributes(__name__, {...})`."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    found[str(key.value)] = str(value.value)
    return found


def test_no_late_name_is_that_of_a_module_beside_it() -> None:
    wrong: list[str] = []
    for path in PACKAGE:
        if path.name != "__init__.py" or "later.attributes" not in path.read_text("utf-8"):
            continue
        for name, target in late_names(tree_of(path)).items():
            module = path.parent / name
            exists = module.with_suffix(".py").exists() or module.is_dir()
            if exists and ":" in target:
                wrong.append(f"{name_of(path)}: {name} is {target} and a module")
    assert not wrong
