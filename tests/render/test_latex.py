"""LaTeX tables need booktabs only, fit, and compile."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bench.render.export import write_tables
from bench.render.latex import CAPTION_LINES, document, latex_escape, pages, to_latex
from bench.render.table import Block, Cell, Row, Table
from bench.report.contents import read_contents
from tests.report.everything import write_everything


def wide(n_columns: int, n_rows: int = 2) -> Table:
    row = Row("model", tuple(Cell(85.97, 1.75) for _ in range(n_columns)))
    columns = tuple(f"c{one}" for one in range(n_columns))
    return Table("wide", "Wide", columns, (Block("measured", (row,) * n_rows),), "Percent.")


def long_headed() -> Table:
    table = wide(4, n_rows=1)
    blocks = tuple(replace(block, heading=f"recipe, changed: {'a_b=1, ' * 40}") for block in table.blocks * 2)
    return replace(table, name="long-headed", blocks=blocks)


def test_every_special_character_is_escaped() -> None:
    assert latex_escape(r"a_b{c}&%$#^~\<|") == (
        r"a\_b\{c\}\&\%\$\#\textasciicircum{}\textasciitilde{}\textbackslash{}\textless{}\textbar{}"
    )


def test_a_character_without_a_glyph_becomes_its_code() -> None:
    assert latex_escape("é \N{GREEK SMALL LETTER BETA}") == "é {[}U+03B2]"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("bench run --models", "bench run -{}-models"),
        ("a---b", "a-{}-{}-b"),
        ("[1]", "{[}1]"),
        ("``x''", r"\textasciigrave{}\textasciigrave{}x'{}'"),
        ("\u0127", "{[}U+0127]"),
    ],
)
def test_nothing_becomes_a_ligature_an_option_or_a_missing_letter(text: str, escaped: str) -> None:
    assert latex_escape(text) == escaped


def test_a_row_never_starts_with_a_star() -> None:
    table = Table("t", "T", ("a",), (Block("", (Row("*x", (Cell(1.0),)),)),), "c")
    assert "{}*x & 1.00" in to_latex(table)


def test_an_empty_heading_over_columns_has_no_rule() -> None:
    table = Table(
        "t", "T", ("a", "b"), (Block("", (Row("x", (Cell(1.0),) * 2),)),), "c", groups=(("", 1), ("G", 1))
    )
    text = to_latex(table)
    assert "{2-2}" not in text
    assert "{3-3}" in text


def test_a_table_too_wide_for_a_page_is_shared_out_by_columns() -> None:
    table = replace(wide(60), groups=(("first", 40), ("second", 20)))
    found = pages(table)
    assert len(found) > 1
    assert [column for one in found for column in one.columns] == list(table.columns)
    assert [group for one in found for group in one.column_groups] == list(table.column_groups)
    assert found[0].rows[0].cells == table.rows[0].cells[: len(found[0].columns)]


def test_a_table_too_long_for_a_page_is_shared_out_by_rows() -> None:
    table = wide(4, n_rows=300)
    found = pages(table)
    assert len(found) > 1
    assert tuple(row for one in found for row in one.rows) == table.rows


def test_parts_of_a_table_keep_its_groups() -> None:
    table = replace(wide(3, n_rows=300), groups=(("g", 3),))
    assert {one.groups for one in pages(table)} == {(("g", 3),)}


def test_marks_notes_and_groups() -> None:
    table = Table(
        "t",
        "T",
        ("F1",),
        (Block("", (Row("a", (Cell(1.0, 0.5, "best", 1),)),)),),
        "c",
        ("n",),
        groups=(("PTB", 1),),
    )
    text = to_latex(table)
    assert r"\textbf{1.00$\pm$0.50}$^{1}$" in text
    assert r"\multicolumn{1}{c}{PTB}" in text
    assert r"\cmidrule(lr){2-2}" in text


@pytest.mark.parametrize(
    ("n_columns", "environment"),
    [(3, r"\begin{table}[tp]"), (8, r"\begin{table*}[tp]"), (13, r"\begin{table*}[tp]")],
)
def test_a_wide_table_takes_the_page(n_columns: int, environment: str) -> None:
    assert to_latex(wide(n_columns)).startswith(environment)


def test_a_long_table_takes_smaller_type() -> None:
    assert r"\footnotesize" + "\n" in to_latex(wide(4, n_rows=10))
    assert r"\tiny" in to_latex(wide(4, n_rows=90))


def test_tables_use_nothing_but_booktabs(partial: Path) -> None:
    commands = set()
    for section in read_contents(partial).sections:
        for table in section.tables:
            commands |= set(re.findall(r"\\([a-zA-Z]+)", to_latex(table)))
    plain = {"begin", "end", "centering", "caption", "label", "footnotesize", "scriptsize", "tiny", "setlength",
             "tabcolsep", "multicolumn", "emph", "textbf", "underline", "pm", "textwidth", "textless", "textgreater",
             "textbackslash", "textbar", "par", "vspace", "parbox", "linewidth", "raggedright", "renewcommand",
             "arraystretch", "rightskip",
             "textasciicircum", "textasciitilde", "times", "leq", "geq"}  # fmt: skip
    assert commands <= plain | {"toprule", "midrule", "bottomrule", "cmidrule"}


def test_long_tables_of_texts_are_split_into_pages() -> None:
    rows = tuple(Row(str(number), (Cell(text="word " * 60),)) for number in range(40))
    table = Table("claims", "Claims", ("a",), (Block("h", rows),), "c", widths=(0.5, 0.5))
    found = pages(table)
    assert [page.name for page in found] == [f"claims-{place + 1}" for place in range(len(found))]
    assert len(found) > 2
    assert tuple(row for page in found for row in page.rows) == rows
    assert {page.blocks[0].heading for page in found} == {"h"}


def test_wrapped_texts_are_ragged() -> None:
    table = Table("t", "T", ("a",), (Block("", (Row("r", (Cell(text="x"),)),)),), "c", widths=(0.5, 0.5))
    assert r"\rightskip=0pt plus 1fil{}r & \rightskip=0pt plus 1fil{}x \\" in to_latex(table)
    assert r"\rightskip" not in to_latex(replace(table, widths=()))


def test_short_blocks_of_texts_share_a_page() -> None:
    blocks = tuple(Block(name, (Row("r", (Cell(text="x"),)),)) for name in ("a", "b", "c"))
    table = Table("t", "T", ("a",), blocks, "c", widths=(0.5, 0.5))
    assert pages(table) == [table]


def test_a_heading_that_is_longer_than_its_table_is_broken() -> None:
    table = long_headed()
    assert to_latex(table).count(r"}{\raggedright\emph{recipe, changed: a\_b=1") == 2
    assert len(pages(replace(table, blocks=table.blocks * 30))) > len(pages(wide(4, n_rows=60)))


def test_sentences_that_no_caption_holds_stand_below_the_table() -> None:
    table = replace(
        wide(3), caption="First sentence. " + "Word " * 80 + "end. Last sentence.", footnotes=("n",)
    )
    text = to_latex(table)
    above, below = text[: text.index(r"\label")], text[text.index(r"\end{tabular}") :]
    assert "Wide. First sentence.}" in above
    assert "Last sentence. Note: n." in below


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_all_tables_of_a_whole_report_compile_and_fit(tmp_path: Path) -> None:
    write_everything(tmp_path)
    tables = [table for section in read_contents(tmp_path).sections for table in section.tables]
    tables.append(long_headed())
    for part in (
        "efficiency-cost",
        "centralization",
        "theory",
        "scaling",
        "missing-sensors",
        "embedding",
        "scales",
    ):
        assert any(table.name.startswith(part) for table in tables), part
    folder = tmp_path / "tables"
    write_tables(tables, folder)
    text = document([page for table in tables for page in pages(table)])
    counted = r"""\long\def\@makecaption#1#2{\setbox0\vbox{\footnotesize #1: #2\par\xdef\n{\the\prevgraf}}
\typeout{CAPTION \n}\unvbox0}"""
    text = text.replace(
        r"\begin{document}", rf"\makeatletter{counted}\makeatother" + "\n" + r"\begin{document}"
    )
    (folder / "all-tables.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all-tables.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "too large" not in done.stdout
    overfull = map(float, re.findall(r"Overfull \\[hv]box \(([\d.]+)pt", done.stdout))
    assert max(overfull, default=0.0) <= 5
    lines = list(map(int, re.findall(r"CAPTION (\d+)", done.stdout)))
    assert len(lines) == text.count(r"\input")
    assert 1 <= min(lines) <= max(lines) <= CAPTION_LINES
