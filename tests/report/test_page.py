"""The page is one file, sound for screen readers, and escapes what people wrote."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import Result

from bench.render.svg import inline, sparkline
from bench.report import render
from tests.report.grids import Grid, write_grid
from tests.report.pages import Page

EVIL = "<script>alert(1)"


@pytest.fixture(scope="module")
def html(reported: tuple[Path, Result]) -> str:
    """The page of the partial grid."""
    return (reported[0] / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def parsed(html: str) -> Page:
    return Page.parse(html)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page of a grid whose settings, dataset title, error and log hold markup."""
    out = tmp_path_factory.mktemp("hostile")
    failed = frozenset({("patchtst", "ptb", 41)})
    write_grid(out, Grid(datasets=("ptb",), title=f"T</svg>{EVIL}</script>", failed=failed))
    for model, text in (("transformer", EVIL), ("patchtst", 'a"onmouseover="alert(3)')):
        for path in (out / "cells" / "ptb" / model).rglob("record.json"):
            content = json.loads(path.read_text(encoding="utf-8"))
            content["settings"]["hyperparameters"]["note"] = text
            content["settings"]["changed"].append("note")
            path.write_text(json.dumps(content), encoding="utf-8")
    return Page.parse(render(out, out / "report").page.read_text(encoding="utf-8"))


def test_nothing_is_loaded_from_anywhere(parsed: Page, html: str) -> None:
    for tag, attributes in parsed.elements:
        for name in ("src", "href", "xlink:href", "action", "srcset"):
            value = attributes.get(name) or ""
            is_file = tag == "a" and value.startswith(("tables/", "figures/"))
            assert is_file or value.startswith(("#", "data:image/png")) or not value, (name, value[:80])
    assert not parsed.named("link")
    assert "@import" not in html
    assert not re.findall(r"url\((?!#)", html)


def test_the_policy_forbids_the_network(parsed: Page) -> None:
    policy = next(one for one in parsed.named("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert (policy["content"] or "").startswith("default-src 'none'")


def test_identifiers_are_unique_and_links_lead_somewhere(parsed: Page, reported: tuple[Path, Result]) -> None:
    ids = [attributes["id"] for _, attributes in parsed.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    for link in parsed.named("a"):
        address = link["href"] or ""
        assert address[1:] in ids if address.startswith("#") else (reported[0] / address).is_file(), address


def test_every_table_and_figure_has_links_to_its_files(parsed: Page) -> None:
    addresses = {link["href"] for link in parsed.named("a")}
    tables = [table["id"] or "" for table in parsed.named("table") if table.get("id")]
    figures = [figure["id"] or "" for figure in parsed.named("figure")]
    assert tables
    assert figures
    assert {f"tables/{name.removeprefix('table-')}.csv" for name in tables} <= addresses
    assert {f"figures/{name.removeprefix('figure-')}.png" for name in figures} <= addresses


def test_the_page_begins_with_who_wins_what_failed_and_verdicts(parsed: Page) -> None:
    said = " ".join(parsed.text_in("p")[:3])
    assert "Highest macro F1 in percent: PTB" in said
    assert "1 of 11 cells failed (1 timeout); transformer on PTB, seed 42: " in said
    assert re.search(r"Claims of the paper: \d+ contradicted, \d+ undecided", said)


def test_the_recipe_and_the_device_stand_once_in_all_captions(html: str) -> None:
    results = html[html.index('id="results-start"') : html.index('id="cells"')]
    captions = re.sub(r"title=\"[^\"]*\"", "", results)
    assert captions.count("Device: Test CPU (cpu).") == 1
    assert len(re.findall(r"Not one protocol", captions)) < 4


def test_every_picture_says_what_it_shows(parsed: Page) -> None:
    pictures = parsed.named("svg")
    assert pictures
    assert all(one.get("role") == "img" and len(one.get("aria-label") or "") > 10 for one in pictures)
    assert all(one.get("alt") for one in parsed.named("img"))


def test_headings_never_skip_a_level(parsed: Page) -> None:
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_scoped_headings_and_names(parsed: Page) -> None:
    assert all(one.get("scope") for one in parsed.named("th"))
    named = [one for one in parsed.named("table") if one.get("id")]
    assert named
    assert all(one.get("aria-labelledby") for one in named)


def test_provenance_comes_before_any_number(html: str) -> None:
    assert html.index('id="provenance"') < html.index("<table")


def test_provenance_names_failures_gaps_and_subjects(html: str) -> None:
    box = html[html.index('id="provenance"') : html.index('id="results-start"')]
    assert "1 of 11 (1 timeout): transformer / ptb / seed 42 (timeout)" in box
    assert "patchtst on ADFTD: seed 41 not run" in box
    assert "All results are from CPUs" in box
    assert "models of the paper not run" in box


def test_each_cell_can_be_looked_into(html: str, parsed: Page) -> None:
    cells = [found for found in parsed.named("details") if found.get("class") == "cell"]
    assert len(cells) == 11
    for text in (
        "no end after &lt;60&gt; s",
        "line &lt;b&gt;1&lt;/b&gt;",
        "last line &lt;of&gt; the log",
        "learning_rate",
    ):
        assert text in html


def test_best_and_second_are_said_to_who_cannot_see_them(html: str) -> None:
    assert re.search(r'<strong>.{20,200}</strong><span class="spoken"> best</span>', html)
    assert re.search(r'<u>.{20,200}</u><span class="spoken"> second</span>', html)


def test_a_cell_tells_its_environment_and_all_its_scores(html: str) -> None:
    cell = html[html.index('<details class="cell"') :]
    cell = cell[: cell.index("</details>")]
    for said in (
        "python 3.11.0, torch 2.6.0",
        "1,000,000 in the forward pass",
        "0.47 GiB",
        "deterministic",
        "AUPRC",
    ):
        assert said in cell


def test_sections_without_data_name_the_command(html: str) -> None:
    assert "bench efficiency, bench analyze centralization" in html
    assert "bench analyze theory" in html
    assert "No reduced model was run. Command: bench run" in html


def test_names_and_texts_of_people_are_escaped(hostile: Page) -> None:
    assert len(hostile.named("script")) == 1
    assert not any("alert" in text for text in hostile.text_in("script"))
    assert not any(name.startswith("on") for _, attributes in hostile.elements for name in attributes)


def test_a_hostile_label_is_still_readable(hostile: Page) -> None:
    assert any(EVIL in text for text in hostile.text_in("th"))
    assert any(EVIL in text for text in hostile.text_in("text"))


def test_simulated_data_is_said_on_top(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), kind="simulated", preset="demo"))
    html = render(tmp_path, tmp_path / "report").page.read_text(encoding="utf-8")
    assert html.index("<strong>Simulated data.</strong>") < html.index("<nav")


def test_inline_figures_have_identifiers_of_their_own() -> None:
    svg = (
        '<?xml?><svg width="72pt" height="9pt" viewBox="0 0 72 9" id="x">'
        '<g id="a"/><use xlink:href="#a" clip-path="url(#b)"/></svg>'
    )
    text = str(inline(svg, "fig", 'say "this"'))
    assert '<g id="fig-a"/>' in text
    assert 'xlink:href="#fig-a"' in text
    assert "url(#fig-b)" in text
    assert "say &#34;this&#34;" in text


def test_sparkline_stays_inside_its_box() -> None:
    points = re.findall(
        r"([\d.]+),([\d.]+)", str(sparkline([[0.0, 5.0, 2.0], [1.0, 1.0, 1.0]], ["ink", "blue"]))
    )
    assert len(points) == 6
    assert all(0 <= float(x) <= 260 and 0 <= float(y) <= 64 for x, y in points)
