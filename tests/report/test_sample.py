"""The committed sample is what the code writes today: the same sections, and every claim of the ledger."""

import re
from pathlib import Path

from bench.paper.claims import text_claims
from bench.report.contents import read_contents
from tests.sample import SAMPLE

REMEDY = "render the sample of the demo grid again: python -m tests.sample results"


def test_sample_has_the_sections_of_a_report(full: Path) -> None:
    html = (SAMPLE / "index.html").read_text(encoding="utf-8")
    found = set(re.findall(r'<section id="([^"]+)"', html))
    assert {section.name for section in read_contents(full).sections} - {"analyses"} <= found, REMEDY


def test_sample_has_every_claim_of_the_ledger() -> None:
    text = (SAMPLE / "tables" / "claims.md").read_text(encoding="utf-8")
    counted = re.search(r"(\d+) claims of text, figures and captions: .*; (\d+) more are followed here", text)
    assert counted, REMEDY
    assert sum(map(int, counted.groups())) == len(text_claims()), REMEDY


def test_every_link_of_the_sample_leads_somewhere() -> None:
    html = (SAMPLE / "index.html").read_text(encoding="utf-8")
    files = set(re.findall(r'href="([^"#:]+)"', html))
    assert len(files) > 100
    assert [file for file in sorted(files) if not (SAMPLE / file).is_file()] == [], REMEDY
