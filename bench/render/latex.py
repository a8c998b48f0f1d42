r"""Tables as LaTeX that needs booktabs only, and a stand-alone document that shows them.

Every table is one file for ``\input``. It is set in the largest type with which it fits a column
(252 pt wide) or a page (516 pt) of a two-column IEEE paper, which is set in Times; the size is estimated from the
characters.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from math import ceil

from bench.render.formats import footnotes, number
from bench.render.sentences import sentences
from bench.render.table import Block, Cell, Row, Table

COLUMN_PT, PAGE_PT, HEIGHT_PT = 252.0, 516.0, 670.0

CAPTION_LINES = 4
"""Lines of the longest caption; the sentences that do not fit stand below the table."""

STRETCH = 1.15
"""Distance of a table's rows in lines, so that an underline under a bracket does not touch the next row."""

_CAPTION_CHARACTER_PT, _NOTE_CHARACTER_PT = 3.8, 3.3
_WRAPPED_CHARACTER_PT, _WRAPPED_LINE_PT = 4.2, 8.0
"""Of 7-point texts in narrow columns, whose lines end early."""

_CAPTION_SLACK = 16
"""Characters of a caption that "Table 12: " and the ragged ends of its lines may take."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "\N{MINUS SIGN}": r"$-$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "\N{EN DASH}": r"\textendash{}",
    "`": r"\textasciigrave{}",
    "''": "'{}'",  # ligatures: TeX would set these pairs as one character
    ",,": ",{},",
    "[": "{[}",  # at the start of a row it would be an argument of the line break before
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
}
_SIZES = (
    (r"\footnotesize", 8.0, 9.5, 4.0),
    (r"\scriptsize", 7.0, 8.0, 3.0),
    (r"\scriptsize", 7.0, 8.0, 1.5),
    (r"\tiny", 5.0, 6.0, 1.5),
)
"""Type sizes: points, distance of lines, and half the space between two columns, all in points."""

_WIDTHS = {".": 0.25, ",": 0.25, " ": 0.25, "-": 0.4, "±": 0.9, "[": 0.33, "]": 0.33, ":": 0.28}
"""Widths of Times characters in em that differ from a digit's 0.5."""


_RAGGED = r"\rightskip=0pt plus 1fil{}"
r"""Starts a cell of wrapped text: narrow justified columns have gaps, and ``\raggedright`` redefines the row's end."""

_TO_ESCAPE = re.compile("-(?=-)|" + "|".join(map(re.escape, _SPECIAL)))
_LAST_GLYPH, _NO_GLYPH = 0x17F, "ĦħĸĿŀŉŦŧſ"
"""The last letter of pdflatex's T1 fonts, found by trying; exceptions follow."""


def latex_escape(text: str) -> str:
    """Escape a text for LaTeX; a character that pdflatex's fonts lack becomes its code."""
    escaped = _TO_ESCAPE.sub(_escaped, text)
    return "".join(char if _has_glyph(char) else f"{{[}}U+{ord(char):04X}]" for char in escaped)


def _escaped(match: re.Match[str]) -> str:
    return "-{}" if match.group() == "-" else _SPECIAL[match.group()]


def _has_glyph(char: str) -> bool:
    return ord(char) <= _LAST_GLYPH and char.isprintable() and char not in _NO_GLYPH


def to_latex(table: Table) -> str:
    r"""Return a ``table`` environment, or ``table*`` where the table is too wide for a column."""
    environment, size, points, separation = _fit(table)
    caption, notes = _caption(table, COLUMN_PT if environment == "table" else PAGE_PT)
    below = rf"\par\vspace{{3pt}}\parbox{{\linewidth}}{{\scriptsize\raggedright {latex_escape(notes)}}}"
    lines = [
        rf"\begin{{{environment}}}[tp]",
        r"\centering\footnotesize",
        rf"\caption{{{latex_escape(caption)}}}",
        rf"\label{{tab:{table.name}}}",
        size,
        rf"\setlength{{\tabcolsep}}{{{separation:g}pt}}\renewcommand{{\arraystretch}}{{{STRETCH:g}}}",
        *_tabular(table, _width(table, points, separation) - 2 * separation),
        *([below] if notes else []),
        rf"\end{{{environment}}}",
    ]
    return "\n".join(lines) + "\n"


def _caption(table: Table, width: float) -> tuple[str, str]:
    """Return the title with the sentences that fit a caption of a width in points, and the others as notes."""
    room = int(CAPTION_LINES * width / _CAPTION_CHARACTER_PT) - _CAPTION_SLACK
    caption = f"{table.title}."
    rest = sentences(table.caption)
    while rest and len(caption) + 1 + len(rest[0]) <= room:
        caption += f" {rest.pop(0)}"
    return caption, " ".join([*rest, *(f"{note}." for note in footnotes(table))])


def document(tables: Sequence[Table]) -> str:
    """Return a stand-alone document that includes the files of the tables, with the widths of an IEEE paper."""
    lines = [
        r"\documentclass[10pt,twocolumn,letterpaper]{article}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{booktabs,times}",
        rf"\setlength{{\textwidth}}{{{PAGE_PT:g}pt}}\setlength{{\columnsep}}{{12pt}}",
        r"\setlength{\textheight}{680pt}\setlength{\topmargin}{-40pt}",
        r"\setlength{\oddsidemargin}{-24pt}\setlength{\evensidemargin}{-24pt}",
        r"\renewcommand{\topfraction}{1}\renewcommand{\dbltopfraction}{1}",
        r"\makeatletter\long\def\@makecaption#1#2{\vskip\abovecaptionskip",
        r"{\footnotesize #1: #2\par}\vskip 4pt}\makeatother",
        r"\begin{document}",
        *(rf"\input{{{table.name}}}\clearpage" for table in tables),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _tabular(table: Table, width: float) -> list[str]:
    columns = "l" + "c" * len(table.columns)
    if table.widths:
        columns = "".join(rf"p{{{share:g}\textwidth}}" for share in table.widths)
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *_group_headings(table),
        _line([table.corner, *table.columns]),
        r"\midrule",
        *_body(table, width),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _group_headings(table: Table) -> list[str]:
    """Return the line of headings over groups of columns, and the rules under it."""
    cells, rules, first = [""], [], 2
    for heading, width in table.groups:
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_escape(heading)}}}")
        if heading:
            rules.append(rf"\cmidrule(lr){{{first}-{first + width - 1}}}")
        first += width
    return [_row_of(cells), " ".join(rules)] if rules else []


def _body(table: Table, width: float) -> list[str]:
    """Return the rows; a heading that is longer than the table is wide, in points, is broken."""
    lines: list[str] = []
    for block in table.blocks:
        if lines:
            lines.append(r"\midrule")
        if block.heading:
            span, heading = len(table.columns) + 1, rf"\emph{{{latex_escape(block.heading)}}}"
            broken = _heading_lines(table, block.heading) > 1
            column, start = (f"p{{{width:.0f}pt}}", r"\raggedright") if broken else ("l", "")
            lines.append(rf"\multicolumn{{{span}}}{{{column}}}{{{start}{heading}}} \\")
        lines.extend(_row(row, table) for row in block.rows)
    return lines


def _row(row: Row, table: Table) -> str:
    cells = [latex_escape(row.label), *(_cell(cell, table.digits) for cell in row.cells)]
    return _row_of([_RAGGED + cell for cell in cells] if table.widths else cells)


def _line(texts: Sequence[str]) -> str:
    return _row_of(list(map(latex_escape, texts)))


def _row_of(cells: Sequence[str]) -> str:
    r"""Return a row, its start protected: a star there would belong to the ``\\\\`` before it."""
    start = "{}" if cells[0].startswith("*") else ""
    return start + " & ".join(cells) + r" \\"


def _cell(cell: Cell, digits: int) -> str:
    is_dash = cell.is_empty and cell.note is None
    text = "--" if is_dash else latex_escape(number(cell, digits))
    text = {"best": rf"\textbf{{{text}}}", "second": rf"\underline{{{text}}}", "": text}[cell.mark]
    return text if cell.note is None else rf"{text}$^{{{cell.note}}}$"


def _fit(table: Table) -> tuple[str, str, float, float]:
    """Return environment, type size, the same in points, and column separation with which a table fits."""
    if table.widths:
        return "table*", r"\scriptsize", 7.0, 2.0
    for environment, room in (("table", COLUMN_PT), ("table*", PAGE_PT)):
        sizes = _SIZES[:3] if environment == "table" else _SIZES
        for size, points, line, separation in sizes:
            if _width(table, points, separation) <= room and _height(table, line, room) <= HEIGHT_PT:
                return environment, size, points, separation
    return "table*", _SIZES[-1][0], _SIZES[-1][1], _SIZES[-1][3]


def _width(table: Table, points: float, separation: float) -> float:
    """Estimate the width of a table in points."""
    return points * _ems(table) + 2 * separation * (len(table.columns) + 1)


def _ems(table: Table) -> float:
    """Estimate the width of a table's texts in em."""
    label = max(_em(text) for text in (table.corner, *(row.label for row in table.rows)))
    widest = [_em(heading) for heading in table.columns]
    for row in table.rows:
        for column, cell in enumerate(row.cells):
            note = 0.0 if cell.note is None else 0.4 * len(str(cell.note))
            bold = 1.08 if cell.mark == "best" else 1.0
            widest[column] = max(widest[column], bold * _em(number(cell, table.digits)) + note)
    return label + sum(widest)


def _heading_lines(table: Table, heading: str) -> int:
    """Estimate the lines that the heading of a block takes; wrapped texts are wider than any."""
    return 1 if table.widths else max(1, ceil(_em(heading) / _ems(table)))


@lru_cache(maxsize=10_000)  # most texts repeat, and each is measured at several sizes
def _em(text: str) -> float:
    return sum(_WIDTHS.get(char, 0.72 if char.isupper() else 0.5) for char in text)


def _height(table: Table, line: float, width: float) -> float:
    """Estimate the height of a table in points, with its caption at 8 points and its notes at 7."""
    caption, notes = _caption(table, width)
    n_lines = len(table.rows) + sum(_heading_lines(table, block.heading) for block in table.blocks) + 3
    above = 9.5 * (_CAPTION_CHARACTER_PT * len(caption) / width + 2)
    below = 8.0 * (_NOTE_CHARACTER_PT * len(notes) / width + 1) if notes else 0.0
    return above + below + STRETCH * line * n_lines + 6 * len(table.blocks) + 20


def pages(table: Table) -> list[Table]:
    """Return the table or, if it fits no page, smaller tables that do: its columns are split first, then its rows."""
    _, points, line, separation = _SIZES[-1]
    if not table.widths:
        if len(table.columns) > 1 and _width(table, points, separation) > PAGE_PT:
            return [page for half in _split_columns(table) for page in pages(half)]
        if _height(table, line, PAGE_PT) <= HEIGHT_PT:
            return [table]
    else:
        line = _WRAPPED_LINE_PT
    room = HEIGHT_PT - _height(replace(table, blocks=()), line, PAGE_PT)
    return _numbered(table, [replace(table, blocks=blocks) for blocks in _split_rows(table, line, room)])


def _split_rows(table: Table, line: float, room: float) -> list[tuple[Block, ...]]:
    """Return the blocks of each page, a block that is split with its heading on each.

    Parameters
    ----------
    table
        The table.
    line
        Distance of its lines, in points.
    room
        Height for the rows of a page, in points.
    """
    found: list[list[Block]] = [[]]
    used = 0.0
    for block in table.blocks:
        starts = True
        heading = STRETCH * line * _heading_lines(table, block.heading) + 6
        for row in block.rows:
            height = STRETCH * line * _n_lines(row, table.widths)
            if found[-1] and used + height + (heading if starts else 0) > room:
                found.append([])
                starts, used = True, 0.0
            if starts:
                found[-1].append(replace(block, rows=()))
                starts, used = False, used + heading
            found[-1][-1] = replace(block, rows=(*found[-1][-1].rows, row))
            used += height
    return [tuple(blocks) for blocks in found]


def _n_lines(row: Row, widths: Sequence[float]) -> int:
    """Estimate the lines that a row of wrapped texts takes; 1 without widths."""
    texts = [row.label, *(cell.text or "" for cell in row.cells)]
    needed = [
        len(text) * _WRAPPED_CHARACTER_PT / (share * PAGE_PT)
        for text, share in zip(texts, widths, strict=False)
    ]
    return max([1, *map(ceil, needed)])


def _split_columns(table: Table) -> list[Table]:
    """Return two tables, each with half of the columns."""
    middle = len(table.columns) // 2
    halves = []
    for part in (slice(None, middle), slice(middle, None)):
        groups = tuple((heading, len(list(found))) for heading, found in groupby(table.column_groups[part]))
        blocks = tuple(
            Block(block.heading, tuple(Row(row.label, row.cells[part]) for row in block.rows))
            for block in table.blocks
        )
        halves.append(
            replace(table, columns=table.columns[part], groups=groups if table.groups else (), blocks=blocks)
        )
    return _numbered(table, halves)


def _numbered(table: Table, pieces: Sequence[Table]) -> list[Table]:
    if len(pieces) < 2:
        return [table]
    return [
        replace(piece, name=f"{table.name}-{place}", title=f"{table.title} ({place} of {len(pieces)})")
        for place, piece in enumerate(pieces, start=1)
    ]
