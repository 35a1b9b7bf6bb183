"""What programs of several devices send: read off their HLO, counted by the bytes of gradients."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from intaglio import xla
from tests.distribute import recording

pytestmark = pytest.mark.skipif(not xla.is_installed(), reason=xla.INSTALL)

HLO = """
HloModule jit_step, num_partitions=4
  %all-reduce.1 = (f32[100,10]{1,0}, f32[]) all-reduce(%a, %b), channel_id=1
  %gather = bf16[8,4]{1,0} all-gather(%c), dimensions={0}
  %start = u8[3]{0} all-reduce-start(%d)
  %done = u8[3]{0} all-reduce-done(%start)
  %permuted = pred[5]{0} collective-permute(%e)
"""
PROGRAM = """
import tensorflow as tf

(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    weight = tf.Variable(tf.ones([100, 10]))


def step(x):
    gradient = tf.linalg.matmul(x, x @ weight, transpose_a=True)
    replica = tf.distribute.get_replica_context()
    weight.assign_sub(0.001 * replica.all_reduce("SUM", gradient))


run = tf.function(lambda x: strategy.run(step, args=(x,)), jit_compile=True)
run(tf.ones([2, 100]))
"""


def test_kinds_and_bytes() -> None:
    found = {c.kind: c[1:] for c in xla.collectives.read_collectives(HLO)}
    assert found == {"all-reduce": (2, 4007), "all-gather": (1, 64), "collective-permute": (1, 5)}


@pytest.mark.parametrize(
    "line",
    [
        "%s = (f32[2,3]{1,0}, f32[8,3]{1,0}) all-gather-start(%a), dimensions={0}",
        "%s = ((f32[1,2]{1,0}, f32[4]{0}), (f32[4,2]{1,0}, f32[16]{0})) all-gather-start(%a, %b)",
        "%s = (f32[24]{0}, f32[24]{0}, u32[], u32[]) collective-permute-start(%a)",
    ],
)
def test_starts_have_their_operands_beside_results(line: str) -> None:
    """As XLA's shape inference says of asynchronous collectives: of those the results are counted."""
    (found,) = xla.collectives.read_collectives(line)
    assert found[1:] == (1, 96)


def test_bytes_of_rings() -> None:
    """Of n hosts each sends 2 (n - 1) / n of what is reduced, and its share n - 1 times to gather all."""
    reduced = xla.collectives.Collective("all-reduce", 1, 800)
    assert [xla.collectives.sent(reduced, 4, n) for n in (1, 2, 4, 8)] == [0, 800, 1200, 1400]
    gathered = xla.collectives.Collective("all-gather", 1, 800)
    assert [xla.collectives.sent(gathered, 4, n) for n in (1, 2, 4, 8)] == [0, 200, 600, 1400]


def test_plan_of_a_program(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    command = [sys.executable, "-m", "intaglio", "plan", str(script)]
    done = subprocess.run(command, cwd=recording.ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[1:] for row in rows if "all-reduce" in row] == [
        ["4", "all-reduce", "1", "4,000"],
        ["all-reduce", "0", "4,000", "6,000", "7,000"],
    ]
