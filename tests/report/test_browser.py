"""The page in Chromium: no error, filters, sorting, what is cut, print, phone width, keyboard, contrast."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.report import render
from tests.report.grids import Grid, write_grid
from tests.sample import SAMPLE

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(not Path(CHROMIUM).is_file(), reason="no chromium at /usr/bin/chromium")

# Relative luminance and contrast as WCAG 2.2 defines them; a transparent background is its parent's.
CONTRASTS = """
() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const back = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) { return colour; }
    }
    return [255, 255, 255];
  };
  const found = [];
  const tags = "h1,h2,h3,p,th,td,li,dt,dd,a,summary,summary span,label,figcaption,pre,code";
  document.querySelectorAll(tags).forEach((e) => {
    if (!e.textContent.trim()) { return; }
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(back(e))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) { found.push(e.tagName + " " + contrast.toFixed(2) + " " + e.textContent.slice(0, 40)); }
  });
  return found;
}
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a small grid with a failed cell and data of a hostile title."""
    out = tmp_path_factory.mktemp("page")
    failed = frozenset({("transformer", "ptb", 42)})
    write_grid(
        out,
        Grid(datasets=("ptb",), failed=failed, title="<img src=x onerror=document.title=1>"),
    )
    return render(out, out / "report").page.resolve().as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page at desk size; what its console says and what it asks for is kept in ``said`` and ``asked``."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(5000)
    opened.said, opened.asked = [], []
    opened.on("console", lambda message: opened.said.append(message.text))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.goto(address)
    yield opened
    opened.close()


def test_console_is_silent_and_nothing_else_is_asked_for(page: Any, address: str) -> None:
    assert page.said == []
    assert page.asked == [address]


def test_a_script_in_a_name_does_not_run(page: Any) -> None:
    assert page.title().startswith("medmamba-bench")


def opened(page: Any) -> Any:
    """The page with all its sections and cells open."""
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    return page


def test_filter_of_a_table_looks_at_the_column_that_it_names(page: Any) -> None:
    table = opened(page).locator("#table-main-ptb")
    label = page.locator(".table", has=table).locator("label")
    assert label.inner_text().strip() == "Filter by model"
    field = label.locator("input")
    shown = table.locator("tbody tr:not(.heading):visible")
    field.fill("medmamba")
    assert shown.count() == 2
    assert all("medmamba" in text for text in shown.all_inner_texts())
    field.fill("chance")
    assert shown.count() == 0
    field.fill("")
    assert shown.count() == 8


def test_a_click_sorts_by_a_column_within_blocks(page: Any) -> None:
    table = page.locator("#table-f1")
    block = table.locator("tbody").first
    heading = table.locator("tr.columns th").nth(1)
    values = (
        "(body) => [...body.querySelectorAll('td[data-value]')].map((cell) => Number(cell.dataset.value))"
    )
    heading.locator("button").click()
    falling = block.evaluate(values)
    assert falling == sorted(falling, reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"
    heading.locator("button").click()
    assert block.evaluate(values) == sorted(falling)
    assert block.locator("tr").first.get_attribute("class") == "heading"


def test_a_group_of_columns_folds(page: Any) -> None:
    table = page.locator("#table-main-ecg")
    shown = table.locator("tr.columns th:visible")
    table.locator("th[scope=colgroup] button").first.click()
    assert shown.count() == 3
    table.locator("th[scope=colgroup] button").first.click()
    assert shown.count() == 8


def test_cells_are_filtered_by_model_and_outcome(page: Any) -> None:
    shown = opened(page).locator("details.cell:visible")
    assert shown.count() == 6
    page.select_option("[data-filter=outcome]", "timeout")
    assert shown.count() == 1
    page.select_option("[data-filter=model]", "medmamba")
    assert shown.count() == 0
    page.select_option("[data-filter=outcome]", "")
    assert page.locator("#cell-count").inner_text() == "2 of 6 cells"


def test_a_link_of_the_contents_opens_its_section(page: Any) -> None:
    part = page.locator("#claims details.part")
    assert not part.evaluate("(part) => part.open")
    page.locator("#contents summary").click()
    page.locator("#contents a[href='#claims']").click()
    page.locator("#claims details.part[open]").wait_for(state="attached")
    assert page.locator("#contents").bounding_box()["y"] < 40


def test_a_report_of_few_cells_is_at_most_twelve_screens(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollHeight") <= 12 * 900


CUT = """
() => [...document.querySelectorAll(".table .scroll")].filter((region) => region.scrollWidth > region.clientWidth + 1)
  .filter((region) => {
    region.scrollLeft = region.scrollWidth;
    const left = region.getBoundingClientRect().left;
    return [...region.querySelectorAll("tr:not(.heading) > :first-child")]
      .some((cell) => cell.offsetWidth > 0 && Math.abs(cell.getBoundingClientRect().left - left) > 1);
  }).map((region) => region.getAttribute("aria-labelledby"))
"""
"""The tables that are cut and whose first column does not stay when they are scrolled."""

OUTSIDE = """
() => [...document.querySelectorAll("td, th, figure svg, p, dd, pre")].filter((element) => {
  const box = element.getBoundingClientRect();
  return box.width > 0 && (box.right > document.documentElement.clientWidth + 1 || box.left < -1);
}).map((element) => element.tagName + " " + element.textContent.slice(0, 40))
"""


def as_printed(page: Any) -> None:
    page.set_viewport_size({"width": 1047, "height": 718})  # A4 landscape within margins of 10 mm
    page.emulate_media(media="print")


SCROLLED = """
() => [...document.querySelectorAll(".table .scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1).length
"""


def test_no_table_of_the_results_is_cut_at_desk_size(page: Any) -> None:
    assert opened(page).evaluate(SCROLLED) == 0


def test_no_table_of_twelve_models_and_six_datasets_is_cut(page: Any) -> None:
    page.goto((SAMPLE / "index.html").resolve().as_uri())
    assert opened(page).evaluate(SCROLLED) == 0
    as_printed(page)
    assert page.evaluate(OUTSIDE) == []


def test_a_word_of_a_table_stands_on_one_line(page: Any) -> None:
    broken = opened(page).evaluate(
        """() => [...document.querySelectorAll("table.texts td.words")].filter((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return /^\\w+$/.test(cell.textContent) && range.getClientRects().length > 1;
        }).map((cell) => cell.textContent)"""
    )
    assert broken == []


def test_a_table_that_scrolls_keeps_its_first_column(page: Any) -> None:
    page.set_viewport_size({"width": 600, "height": 900})
    assert opened(page).evaluate(SCROLLED) > 0
    assert page.evaluate(CUT) == []


def test_the_headings_of_a_table_stay_when_it_scrolls(page: Any) -> None:
    region = page.locator(".scroll", has=page.locator("#table-main-ecg"))
    region.evaluate("(e) => { e.style.maxHeight = '8rem'; e.scrollTop = 100; }")
    moved = region.evaluate(
        "(e) => e.querySelector('thead').getBoundingClientRect().top - e.getBoundingClientRect().top"
    )
    assert abs(moved) < 1


def test_print_clips_nothing(page: Any) -> None:
    as_printed(opened(page))
    assert page.evaluate(OUTSIDE) == []
    clipped = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((e) => getComputedStyle(e).overflowX !== 'visible').length"
    )
    assert clipped == 0


def test_print_shows_no_arrows_of_buttons(page: Any) -> None:
    arrows = """[...document.querySelectorAll("th[scope=colgroup] button")]
      .map((button) => getComputedStyle(button, "::after").content).filter((content) => content !== "none").length"""
    assert page.evaluate(arrows) > 0
    as_printed(page)
    assert page.evaluate(arrows) == 0


def test_print_sets_captions_hardly_larger_than_tables(page: Any) -> None:
    as_printed(page)
    sizes = page.evaluate(
        """["figcaption", ".scroll table"].map((name) => document.querySelector(name))
          .map((element) => parseFloat(getComputedStyle(element).fontSize))"""
    )
    assert sizes[0] <= 1.2 * sizes[1]


def test_a_footnote_mark_makes_no_row_taller(page: Any) -> None:
    heights = page.evaluate(
        """[...document.querySelectorAll("#table-main-ecg tbody tr:not(.heading)")]
          .map((row) => [row.querySelector("sup") !== null, row.offsetHeight])"""
    )
    assert {is_marked for is_marked, _ in heights} == {True, False}
    assert len({height for _, height in heights}) == 1


def test_a_long_title_of_a_section_starts_beside_its_triangle_on_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 300, "height": 844})
    lower = page.evaluate(
        """[...document.querySelectorAll(".part > summary")].filter((summary) =>
          summary.querySelector("h2").getClientRects()[0].top - summary.getBoundingClientRect().top > 20
        ).map((summary) => summary.textContent)"""
    )
    assert lower == []


def test_print_opens_closed_sections(page: Any) -> None:
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('details.part')].every((part) => part.open)")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.part[open]").count() == 1


def test_a_cell_opens_by_keyboard(page: Any) -> None:
    page.evaluate("document.querySelector('#cells details').open = true")
    summary = page.locator("details.cell summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("details.cell[open]").count() == 1
    assert page.locator("details.cell[open] table").first.is_visible()


def test_first_tab_offers_to_skip_to_the_results(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "results-start"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_page_is_never_wider_than_the_screen(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    opened(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_enough(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    opened(page)
    assert page.evaluate(CONTRASTS) == []


def test_colours_follow_the_scheme_of_the_screen(page: Any) -> None:
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours.append(page.evaluate("getComputedStyle(document.querySelector('svg text')).fill"))
    assert colours[0] != colours[1]


def test_every_picture_has_a_name_for_screen_readers(page: Any) -> None:
    names = page.evaluate(
        "[...document.querySelectorAll('svg, img')].map((e) => e.getAttribute('aria-label') || e.alt)"
    )
    assert names
    assert all(len(name) > 10 for name in names)


def test_labels_inside_figures_do_not_overlap(page: Any) -> None:
    overlaps = opened(page).evaluate(
        """() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
          const boxes = [...svg.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
          return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([b, q]) =>
            p.left + 1 < q.right && q.left + 1 < p.right && p.top + 2 < q.bottom && q.top + 2 < p.bottom
          ).map(([b]) => svg.getAttribute("aria-label").slice(0, 40) + ": " + a + " / " + b));
        })"""
    )
    assert overlaps == []
