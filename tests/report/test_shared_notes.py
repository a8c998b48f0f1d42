"""What captions of different kinds share stands once; what explains one kind stays with it."""

from bench.render.table import Block, Cell, Row, Table
from bench.report.shared_notes import SharedNotes

RECIPE = "Recipe: published, changed: epochs=3."
SHARED = SharedNotes.of(
    [
        ("main-ptb", f"Scores of all windows here. {RECIPE}", ("few subjects were tested", "own")),
        ("main-apava", f"Scores of all windows here. {RECIPE}", ()),
        ("subjects-ptb", f"Votes. {RECIPE}", ("few subjects were tested",)),
    ]
)


def test_what_two_kinds_share_has_a_letter() -> None:
    assert SHARED.texts == {"a": RECIPE, "b": "few subjects were tested"}


def test_a_caption_keeps_its_own_sentences() -> None:
    caption = SHARED.caption(f"Scores of all windows here. {RECIPE}")
    assert (caption.text, caption.letters) == ("Scores of all windows here.", ("a",))


def test_footnotes_of_a_table_are_numbered_without_shared_ones() -> None:
    blocks = (Block("", (Row("r", (Cell(1.0, note=2),)),)),)
    table = Table("t", "T", ("a",), blocks, "c", footnotes=("few subjects were tested", "own"))
    assert [(note.mark, note.anchor) for note in SHARED.footnotes(table)] == [
        ("b", "note-b"),
        ("1", "note-t-1"),
    ]


def test_a_footnote_that_no_cell_names_has_no_number() -> None:
    blocks = (Block("", (Row("r", (Cell(1.0, note=2),)),)),)
    table = Table("t", "T", ("a",), blocks, "c", footnotes=("of all cells", "of one cell"))
    assert [note.mark for note in SHARED.footnotes(table)] == ["", "1"]


def test_a_shared_footnote_is_named_under_its_table() -> None:
    assert SHARED.caption("Votes.", ("few subjects were tested", "own")).letters == ("b",)
