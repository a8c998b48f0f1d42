"""The committed study of real data: its pack holds, and its report has the numbers that the pack renders to."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from bench.render.formats import to_markdown
from bench.render.table import Table
from bench.report.contents import read_contents
from bench.results.pack import verify_pack

ROOT = Path(__file__).parents[1]
PACK = ROOT / "studies" / "uci-har" / "uci-har.zip"
REPORT = ROOT / "reports" / "uci-har"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    out = tmp_path_factory.mktemp("study")
    with ZipFile(PACK) as archive:
        archive.extractall(out)
    return {table.name: table for section in read_contents(out).sections for table in section.tables}


def test_every_byte_of_the_pack_is_as_its_manifest_says() -> None:
    assert verify_pack(PACK) > 100


@pytest.mark.parametrize(
    "name",
    [
        "main-uci-har-equal",
        "main-uci-har-published",
        "headline-equal",
        "seeds-f1-equal",
        "normalisation-uci-har-1",
        "subject-probe",
    ],
)
def test_the_report_has_the_numbers_of_the_pack(name: str, tables: dict[str, Table]) -> None:
    written = (REPORT / "tables" / f"{name}.md").read_text(encoding="utf-8")
    assert written == to_markdown(tables[name]), "render it again: python -m tests.sample OUT reports/uci-har"


def test_the_report_and_the_pack_are_small() -> None:
    assert sum(file.stat().st_size for file in REPORT.rglob("*")) < 8e6
    assert PACK.stat().st_size < 10e6
