"""Generated code leads from a frame to its source and to the origins of its lines."""

from __future__ import annotations

import traceback

import pytest

from intaglio.base import origins
from intaglio.base.generated_code import GeneratedCode


def divided() -> GeneratedCode:
    source = "def run(x):\n y = 1\n return y / x\n"
    return GeneratedCode("test divided", source, {}, [None, "one", "quotient"])


def test_a_frame_leads_to_the_line_and_its_origin() -> None:
    code = divided()
    run = code.function("run")
    assert run(4) == 0.25
    with pytest.raises(ZeroDivisionError) as caught:
        run(0)
    entry = caught.tb.tb_next
    assert entry is not None
    assert GeneratedCode.of(entry.tb_frame) is code is GeneratedCode.behind(run)
    assert code.at(entry.tb_lineno) == "quotient"
    assert (code.at(0), code.at(4)) == (None, None)
    assert origins.is_ours(entry.tb_frame.f_code)


def test_tracebacks_show_the_source_on_request() -> None:
    code = divided()
    run = code.function("run")
    with pytest.raises(ZeroDivisionError) as caught:
        run(0)
    assert "return y / x" not in "".join(traceback.format_tb(caught.tb))
    code.show()
    assert "return y / x" in "".join(traceback.format_tb(caught.tb))


def test_other_frames_are_no_generated_code() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 / 0
    assert GeneratedCode.of(caught.tb.tb_frame) is None
