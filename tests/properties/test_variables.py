"""Reads and writes of variables: eager, traced and native programs see the same values."""

from __future__ import annotations

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf
from tests.native.on_variables import READS, UNCHANGED, WRITES, agree

from .programs import examples

LINES = st.lists(
    st.tuples(st.sampled_from([*WRITES, *READS]), st.booleans(), st.booleans()),
    min_size=2,
    max_size=7,
)


@examples(2.0)
@given(LINES)
def test_programs_of_reads_and_writes(lines):
    note(lines)

    def program(v, u):
        seen = []
        for name, first, whole in lines:
            target, other = (v, u) if first else (u, v)
            if name in READS:
                seen.append(READS[name](target))
            else:
                value = UNCHANGED["tile"](other) if whole else tf.sqrt(tf.abs(other))
                seen.append(value)
                WRITES[name](target, value)
        return seen, v + u

    agree(program)
