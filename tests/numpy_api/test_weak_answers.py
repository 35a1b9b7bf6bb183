"""With weak types calls give what TensorFlow 2.21 gave: see record.py and weak_calls.txt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from intaglio import tf
from intaglio.numpy_api import np_config
from tests.numpy_api import record
from tests.printing import as_printed

ANSWERS = json.loads((record.HERE / "weak_answers.json").read_text())

# Where the answer is another on purpose, by what the call has in it.
DEVIATIONS = {
    "tnp.log2": "TensorFlow divides by a double of NumPy's, which makes all results double",
    "tnp.log10": "as log2",
    "tnp.logaddexp": "as log2",
    "tnp.rad2deg": "as log2",
    "erfcinv": "as log2",
    "tnp.average": "means of integers are allowed in mode safe, as tnp.mean is; two results too",
    "tnp.arange(": "the ends and the step are promoted together, which TensorFlow refuses",
    "tf.constant([w, w])": "a list of tensors makes a constant here",
    "tf.constant([s, s])": "a list of tensors makes a constant here",
    "tf.stack([w, wf])": "a ValueError, as for a variable of another type",
    "tf.concat([tf.constant([1]),tf.constant([2.])],0)": "as tf.stack",
    "tf.logical_and(w,w)": "an InvalidArgumentError, as for a tensor of another type",
    "tf.constant(True) | w": "as tf.logical_and",
    "1 & w": "works here",
    "tf.nn.moments(": "takes lists; both results are strong",
    "tf.as_dtype(w)": "works here, as it does for tensors",
    "dtype='int8'": "works here: TensorFlow takes the name for a value",
}
# In mode safe others are, too.
IN_SAFE = {
    "tnp.geomspace(tf.cast": "computes in double, whatever the ends are",
    "tnp.linspace(np.array": "as of tensors: integers of 64 bits are no floats",
    "tnp.meshgrid([1],[1.5])": "works here: the vectors stay apart",
    "s + np.array([1,2],dtype=np.uint64)": "an error, not NumPy's answer",
}


@pytest.fixture(scope="module", params=record.WEAK)
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    """A mode that is on."""
    tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=request.param)
    yield request.param
    np_config.disable_numpy_behavior()


def _is_the_same(given: list[str], mine: list[str]) -> bool:
    if given[0] != mine[0]:
        return False
    if given[0] == "value":
        return _plain(given[1]) == _plain(mine[1])
    said = re.search(r"between (\(.*?\)) and (\(.*?\)) is disallowed|dtype is immutable", given[1])
    # What is no operand is converted, and the message says so.
    converted = mine[1].startswith(("Cannot convert ", "in user code"))
    if said is None or converted:
        return True
    parts = [part for part in said.groups() if part] or [said[0]]
    return all([part in mine[1] for part in parts])


def _plain(text: str) -> str:
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    rounded = re.sub(r"-?\d+\.\d*(e[+-]?\d+)?", lambda found: f"{float(found[0]):.5g}", text)
    return re.sub(r"\s+", "", rounded)


@pytest.mark.filterwarnings("ignore")
def test_calls(mode: str) -> None:
    wrong: list[tuple[str, list[str], list[str]]] = []
    deviations = {**DEVIATIONS, **(IN_SAFE if mode == "safe" else {})}
    unused = set(deviations)
    for call in record.weak_calls():
        given = ANSWERS[call]
        given = given if isinstance(given, list) else given[mode]
        given = [as_printed(part) for part in given]
        mine = record.answer(call, tf)
        if not _is_the_same(given, mine):
            apart = {part for part in deviations if part in call}
            unused -= apart
            if not apart:
                wrong.append((call, given, mine))
    assert not wrong, "\n".join(map(str, wrong))
    assert not unused, f"no longer apart: {unused}"
