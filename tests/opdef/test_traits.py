"""A trait that does not exist, or has another type, is refused when the op is declared."""

from __future__ import annotations

import pytest

from intaglio.opdef import late, raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.traits import TRAITS


def declared(**attributes):
    """A class of an op with these attributes, declared."""
    known = {"signature": "x: float32 -> y: float32", "__module__": __name__}
    return op(type("TraitsProbe", (Op,), {**known, **attributes}))


@pytest.mark.parametrize("name", ["nativ_exact", "is_cheap", "controlflow", "state_ful"])
def test_an_unknown_trait_is_refused(name):
    with pytest.raises(TypeError, match=f"there is no trait {name}"):
        declared(**{name: True})


@pytest.mark.parametrize("name", sorted(TRAITS))
def test_a_trait_of_another_type_is_refused(name):
    with pytest.raises(TypeError, match=f"trait {name} is"):
        declared(**{name: object()})


@pytest.mark.parametrize("name", ["batched_inputs"])
def test_a_bool_is_no_number(name):
    with pytest.raises(TypeError, match=f"trait {name} is True"):
        declared(**{name: True})


@pytest.mark.parametrize("name", ["control_flow", "batching", "reaches_outside"])
def test_a_word_that_a_trait_does_not_have_is_refused(name):
    with pytest.raises(TypeError, match="not one of"):
        declared(**{name: "sideways"})


def test_what_a_family_annotates_and_what_the_signature_names_is_no_trait():
    class Family(Op):
        signature = "x: float32; mode: str = 'a' -> y: float32"
        power: int = 1

    probe = type("TraitsProbe", (Family,), {"power": 2, "mode": ("a", "b"), "_note": 3})
    try:
        op(probe)
        assert raw.TraitsProbe.limits == {"mode": ("a", "b")}
    finally:
        raw.withdraw("TraitsProbe")


def test_the_refused_are_not_declared():
    with pytest.raises(TypeError):
        declared(cheap="yes")
    assert not raw.is_declared("TraitsProbe")


def test_a_reference_names_an_op_of_the_catalogue():
    assert late.MatMul.is_op(raw.MatMul)
    assert not late.MatMul.is_op(raw.Add)
    with pytest.raises(AttributeError, match="no op named 'MatMull'"):
        _ = late.MatMull
