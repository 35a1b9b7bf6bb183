"""Writes docs/onnx.md: which ONNX operators load, which of ONNX' own tests pass, which ops are exported how.

python -m docs.onnx            runs ONNX' tests of its operators and writes the page; needs onnx
"""

from __future__ import annotations

import collections
import pathlib
import re
import warnings

import onnx

from docs.generated import put
from intaglio.export import portable_rules
from intaglio.export.onnx import registry, rules
from intaglio.export.onnx.loading.operators import OPERATORS
from tests.export.onnx import node_tests
from tests.ops import calls

PAGE = pathlib.Path(__file__).parent / "onnx.md"
HEAD = """# ONNX: operators and ops

[How to export and load models](how-to/onnx.md). `python -m docs.onnx` writes this page.

"""


def main() -> None:
    """Writes the page."""
    warnings.simplefilter("ignore")
    assert rules.__all__
    put(PAGE, HEAD + _tests() + _operators() + _ops(), check=False)


def _tests() -> str:
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    total = 0
    for test in node_tests.all_tests():
        total += 1
        reason = node_tests.outcome(test)
        if reason:
            wrong[_short(reason)].append(test.name)
    passed = total - sum(map(len, wrong.values()))
    lines = [
        "## ONNX' own tests of its operators",
        "",
        f"Of the {total} node tests of `onnx.backend.test` (onnx {onnx.__version__}) {passed} give the "
        f"answer, {100 * passed / total:.1f} %. The others:",
        "",
        "| why | tests |",
        "| --- | --- |",
    ]
    for reason, names in sorted(wrong.items()):
        named = ", ".join([f"`{n.removeprefix('test_')}`" for n in names])
        lines.append(f"| {reason} | {named} |")
    return "\n".join([*lines, "", ""])


def _short(reason: str) -> str:
    """A reason without the names of nodes, so that equal ones are one."""
    reason = re.sub(r"^node (\S+) of '[^']*'", r"\1", reason)
    if "allowed values" in reason:
        return re.sub(r".*for attr '\w+' of (\w+) is not.*", r"a conversion of \1", reason)
    return reason.replace("|", "/").replace("; docs/onnx.md lists those that there are", "")


def _operators() -> str:
    domains: dict[str, list[str]] = collections.defaultdict(list)
    for domain, name in OPERATORS:
        domains[domain or "ai.onnx"].append(name)
    lines = [
        "## Operators that are loaded",
        "",
        "Operators that ONNX defines by a function of others load besides, and so do functions of the model.",
        "",
        *_checked(),
        "",
        "| domain | operators |",
        "| --- | --- |",
    ]
    lines += [f"| {d} | {', '.join(sorted(names))} |" for d, names in sorted(domains.items())]
    return "\n".join([*lines, "", ""])


def _checked() -> list[str]:
    """What the tests cover of the versions and operators."""
    versions: set[int] = set()
    tested: set[str] = set()
    for test in node_tests.all_tests():
        versions.update(o.version for o in test.model.opset_import if o.domain in ("", "ai.onnx"))
        tested.update(node.op_type for node in test.model.graph.node)
    shown = ", ".join(map(str, sorted(versions)))
    untested = ", ".join(f"`{n}`" for n in sorted({n for _, n in OPERATORS} - tested))
    return [
        f"What is checked of versions is what the tests above have: each model declares one version of ai.onnx, and "
        f"these are {shown}. An operator is tested in the form that it has in its tests' versions, mostly the latest. "
        "Rules also read what earlier versions have as attributes, but not every operator has been "
        f"tested in every version. No node of these tests is of {untested}."
    ]


def _ops() -> str:
    found: dict[str, list[str]] = {"rule": [], "scalar": [], "expression": [], "known shapes": []}
    for name, op in sorted(calls.CATALOGUE.items()):
        if op.internal:
            continue
        if name in registry.RULES or name in registry.COMPLEX_RULES:
            found["rule"].append(name)
        elif "scalar" in op.rules:
            found["scalar"].append(name)
        elif {"native", "decompose"} & set(op.rules):
            found["expression"].append(name)
        elif name in {*portable_rules.OPS, *portable_rules.WITHOUT_LOOPS}:
            found["known shapes"].append(name)
    return "\n".join(
        [
            "## Ops that are exported",
            "",
            "By a rule of their own, by their elementwise expression, or by their expression in other ops; where shapes are "
            "known, by a rule that libraries have, too, or by what their NumPy kernel does with symbolic arrays. Some dtypes "
            "and attributes have no counterpart; the error says which. ONNX' operators take no complex numbers: a model "
            "has their real and imaginary parts, and takes and returns real numbers. With rules for these are "
            + ", ".join([f"`{n}`" for n in sorted(registry.COMPLEX_RULES)])
            + ".",
            "",
            "| how | ops |",
            "| --- | --- |",
            *[
                f"| {how} | {', '.join([f'`{n}`' for n in names])} |"
                for how, names in found.items()
            ],
            "",
        ]
    )


if __name__ == "__main__":
    main()
