"""LaTeX tables need booktabs only, fit, and compile."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.reports.contents import read_contents
from bench.reports.latex import document, latex_escape, split_rows, to_latex
from bench.reports.render import ROWS_A_PAGE
from bench.reports.table import Block, Cell, Row, Table
from tests.reports.grids import ABLATIONS, PAPER_MODELS, Grid, write_grid


def wide(n_columns: int, n_rows: int = 2) -> Table:
    row = Row("model", tuple(Cell(85.97, 1.75) for _ in range(n_columns)))
    columns = tuple(f"c{one}" for one in range(n_columns))
    return Table("wide", "Wide", columns, (Block("measured", (row,) * n_rows),), "Percent.")


def test_every_special_character_is_escaped() -> None:
    assert latex_escape(r"a_b{c}&%$#^~\<|") == (
        r"a\_b\{c\}\&\%\$\#\textasciicircum{}\textasciitilde{}\textbackslash{}\textless{}\textbar{}"
    )


def test_a_character_without_a_glyph_becomes_its_code() -> None:
    assert latex_escape("é \N{GREEK SMALL LETTER BETA}") == "é [U+03B2]"


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
             "textbackslash", "textbar", "textasciicircum", "textasciitilde", "times", "leq", "geq"}  # fmt: skip
    assert commands <= plain | {"toprule", "midrule", "bottomrule", "cmidrule"}


def test_long_tables_of_texts_are_split_into_pages() -> None:
    rows = tuple(Row(str(number), (Cell(text="x"),)) for number in range(40))
    table = Table("claims", "Claims", ("a",), (Block("", rows),), "c", widths=(0.5, 0.5))
    pages = split_rows(table, ROWS_A_PAGE)
    assert [page.name for page in pages] == ["claims-1", "claims-2", "claims-3"]
    assert tuple(row for page in pages for row in page.rows) == rows


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_all_tables_of_the_paper_grid_compile_and_fit(tmp_path: Path) -> None:
    datasets = ("ptb", "ptb-xl", "adftd", "apava", "sleep-edf", "uci-har")
    odd = {"transformer": "a$b_{c}&%<script>"}
    write_grid(tmp_path, Grid(models=PAPER_MODELS, datasets=datasets, known_as=odd, n_epochs=1))
    write_grid(tmp_path, Grid(models=ABLATIONS, datasets=("adftd",), n_epochs=1))
    tables = [table for section in read_contents(tmp_path).sections for table in section.tables]
    pages = [
        page for table in tables for page in (split_rows(table, ROWS_A_PAGE) if table.widths else [table])
    ]
    for page in pages:
        (tmp_path / f"{page.name}.tex").write_text(to_latex(page), encoding="utf-8")
    (tmp_path / "all.tex").write_text(document(pages), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, errors="replace"
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert not re.findall(r"Overfull \\hbox.*|.*Float too large.*", done.stdout)
    assert (tmp_path / "all.pdf").is_file()
