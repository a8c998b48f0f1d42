"""Marks follow what the reader sees; footnotes have one number each."""

from bench.render.table import Cell, Footnotes, Row, mark_best, mark_cells


def test_best_and_second_are_marked_in_each_column() -> None:
    rows = mark_best(
        (Row("a", (Cell(1.0), Cell(9.0))), Row("b", (Cell(2.0), Cell(8.0))), Row("c", (Cell(3.0), Cell(7.0))))
    )
    assert [[cell.mark for cell in row.cells] for row in rows] == [
        ["", "best"],
        ["second", "second"],
        ["best", ""],
    ]


def test_equal_printed_means_share_a_mark() -> None:
    marked = mark_cells([Cell(70.001), Cell(70.004), Cell(60.0)])
    assert [cell.mark for cell in marked] == ["best", "best", "second"]


def test_dashes_and_texts_are_never_marked() -> None:
    cells = [Cell(), Cell(text="x"), Cell(1.0), Cell(0.0)]
    assert [cell.mark for cell in mark_cells(cells)] == ["", "", "best", "second"]


def test_one_model_alone_is_not_the_best() -> None:
    assert [cell.mark for cell in mark_cells([Cell(1.0), Cell()])] == ["", ""]


def test_what_most_models_share_is_not_second() -> None:
    assert [cell.mark for cell in mark_cells([Cell(1.0), Cell(0.0), Cell(0.0)])] == ["best", "", ""]


def test_marking_keeps_intervals_and_notes() -> None:
    cell = Cell(1.0, 0.1, note=2, low=0.5, high=1.5)
    assert mark_cells([cell, Cell(0.0)])[0] == Cell(1.0, 0.1, "best", 2, 0.5, 1.5)


def test_a_footnote_used_twice_has_one_number() -> None:
    notes = Footnotes()
    assert [notes.number(text) for text in ("a", "b", "a")] == [1, 2, 1]
    assert notes.texts == ("a", "b")
