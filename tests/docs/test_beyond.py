"""The table of what goes beyond TensorFlow: the program of every row runs, and the page shows it."""

import pytest

from docs import beyond


@pytest.mark.parametrize("row", beyond.rows(), ids=lambda r: r.path.stem)
def test_row(row: beyond.Row) -> None:
    beyond.run(row)


def test_page_has_all_rows() -> None:
    text = beyond.PAGE.read_text(encoding="utf-8")
    for row in beyond.rows():
        assert f"| [{row.number}](#row-{row.number}) | {row.title} | yes |" in text
        assert row.code in text
