"""Error codes: unique, stable in the pages, found from the errors that programs raise."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intaglio
from docs import error_codes as generator
from intaglio import tf
from intaglio.insight import error_codes


def test_every_section_of_the_pages_has_a_code_of_its_own() -> None:
    for page in generator.PAGES:
        source = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        heads = re.findall(r"^## .*$", source, re.M)
        assert len(heads) == len(re.findall(r"^## .*\n\n<!-- IG\d{3} -->$", source, re.M)), page
    assert len(set(error_codes.codes())) == len(error_codes.codes()) > 60


def test_the_pages_of_the_wheel_are_those_of_the_documentation() -> None:
    assert error_codes.PAGES.read_text(encoding="utf-8") == generator.text()


def test_a_page_tells_cause_and_cure() -> None:
    page = intaglio.explain_error("ig001")
    assert page.code == "IG001" and page.startswith("## 'y' must also be initialized")
    assert "```python" in page and "](" not in page
    assert repr(page) == str(page)
    with pytest.raises(ValueError, match="'IG999' has no page; there are IG001"):
        intaglio.explain_error("IG999")


def uninitialized(x: Any) -> Any:
    if x > 0:
        result = x
    return result


def changed(x: Any) -> Any:
    total = 0
    while x > 0:
        total = tf.cast(total, tf.float32) + 0.5
        x -= 1
    return total


def array(x: Any) -> Any:
    return np.sin(np.asarray(x))


@pytest.mark.parametrize(
    ("function", "code"),
    [(uninitialized, "IG001"), (array, "IG020")],
    ids=["uninitialized", "array"],
)
def test_errors_carry_their_codes(function: Callable[..., Any], code: str) -> None:
    with pytest.raises(Exception) as caught:
        tf.function(function)(tf.constant(1))
    assert error_codes.code_of(caught.value) == code
    assert any([code in note for note in caught.value.__notes__])
    assert intaglio.explain_error(caught.value).code == code


def test_errors_without_a_page_have_no_note() -> None:
    def broken(x: Any) -> Any:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        tf.function(broken)(tf.constant(1))
    assert not any(["explain_error" in n for n in getattr(caught.value, "__notes__", [])])
