"""`python -m trust.fuzz`: hostile inputs of every format, and what became of them.

    python -m trust.fuzz --count 5000            a few of each, in half a minute
    python -m trust.fuzz --format png --only 17  one input again, with its traceback

Inputs follow from seed, format and number alone. They run in child processes; `INTAGLIO_LIMIT_DECODED`
is small there, so that asking for more memory shows. Exit status 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys

LIMIT_BYTES = 64 << 20
os.environ.setdefault("INTAGLIO_LIMIT_DECODED", str(LIMIT_BYTES))
os.environ.setdefault("INTAGLIO_VERIFY", "0")

from trust import page  # noqa: E402 - the limit is read when the package is imported
from trust.fuzzing import calls, files, runner, tensors  # noqa: E402
from trust.fuzzing.runner import VERDICTS, WRONG, Finding, Format, Row  # noqa: E402

FORMATS: tuple[type[Format], ...] = (
    files.Graphs,
    files.Models,
    files.Checkpoints,
    files.KerasFiles,
    files.Weights,
    files.Datasets,
    tensors.Records,
    tensors.Examples,
    tensors.Images,
    tensors.Sounds,
    tensors.Texts,
    tensors.Tensors,
    tensors.Compressed,
    tensors.Patterns,
    tensors.Formats,
    files.Objects,
    calls.Calls,
)
DEFAULT_COUNT = 100_000


def shares(count: int, kinds: tuple[type[Format], ...]) -> list[int]:
    """How many inputs of each format there are among so many."""
    whole = sum(kind.share for kind in kinds)
    return [max(1, count * kind.share // whole) for kind in kinds]


def table(rows: list[Row]) -> str:
    """What became of the inputs, as a Markdown table."""
    lines: list[list[object]] = []
    for row in rows:
        total = sum(row.counts.values())
        speed = round(total / row.seconds) if row.seconds else 0
        lines.append([row.name, total, *[row.counts[v] for v in VERDICTS], speed])
    sums = [sum(int(str(line[i])) for line in lines) for i in range(1, len(VERDICTS) + 2)]
    lines.append(["**all**", *sums, ""])
    heads = ["format", "inputs", *VERDICTS[:2], "other exception", *VERDICTS[3:], "a second"]
    return page.table(heads, lines)


def listed(findings: list[Finding], seed: int) -> list[str]:
    """One line for each kind of finding, with the command that shows it again."""
    kinds: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.kind, []).append(finding)
    return [
        f"{len(found)} x {found[0].format} {found[0].verdict}: {found[0].what} at {found[0].where or '?'}\n"
        f"    python -m trust.fuzz --format {found[0].format} --seed {seed} --only {found[0].index}"
        + "".join([f", {finding.index}" for finding in found[1:4]])
        for found in sorted(kinds.values(), key=len, reverse=True)
    ]


def main(arguments: list[str] | None = None) -> int:
    """The command. Returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m trust.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=DEFAULT_COUNT, help="inputs of all formats")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--format", choices=[kind.name for kind in FORMATS], action="append")
    parser.add_argument("--only", type=int, help="the number of one input, run here")
    parser.add_argument("--save", help="with --only: a file for the input")
    parser.add_argument("--write", action="store_true", help="write the table of docs/trust.md")
    given = parser.parse_args(arguments)
    kinds = tuple(k for k in FORMATS if not given.format or k.name in given.format)
    if given.only is not None:
        runner.reproduce(kinds[0], given.seed, given.only, given.save)
        return 0
    counts = shares(given.count, kinds)
    rows, findings = runner.run(kinds, counts, given.seed, given.jobs, given.seconds)
    text = table(rows)
    print(text)
    print("\n".join(listed(findings, given.seed)))
    if given.write:
        cut = f", stopped after {given.seconds:.0f} s" if given.seconds < float("inf") else ""
        page.write("fuzz", f"make fuzz N={given.count}", f"Seed {given.seed}{cut}.\n\n{text}")
    return int(any(row.counts[verdict] for row in rows for verdict in WRONG))


if __name__ == "__main__":
    sys.exit(main())
