"""EDF headers and annotations: what edfio writes is read back, and a changed field is found or harmless."""

from pathlib import Path

import edfio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.edf import read_annotations, read_header

MOST = 2**20
SIGNS = st.characters(min_codepoint=32, max_codepoint=126)
LABELS = st.text(SIGNS, min_size=1, max_size=16).map(str.strip).filter(bool)
STAGES = st.lists(
    st.tuples(st.integers(1, 40), st.sampled_from(["Sleep stage W", "Movement time", "grün"])), min_size=1
)


def signal(label: str, n: int = 300, rate_hz: int = 10) -> edfio.EdfSignal:
    values = np.random.default_rng(n).normal(0, 20, n)
    return edfio.EdfSignal(values, rate_hz, label=label, physical_dimension="uV", physical_range=(-200, 200))


@given(st.lists(LABELS, min_size=1, max_size=4))
def test_headers_come_back(tmp_path_factory: pytest.TempPathFactory, labels: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "x.edf"
    edfio.Edf([signal(label) for label in labels], data_record_duration=10).write(path)
    header = read_header(path)
    assert [found.label for found in header.signals] == labels
    assert (header.n_data_records, header.data_record_s) == (3, 10)
    assert {found.physical_range for found in header.signals} == {(-200, 200)}


@given(STAGES)
def test_annotations_come_back(
    tmp_path_factory: pytest.TempPathFactory, stages: list[tuple[int, str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "x.edf"
    onsets = np.cumsum([0, *(30 * n for n, _ in stages)])
    annotations = [
        edfio.EdfAnnotation(float(onset), 30.0 * n, text)
        for onset, (n, text) in zip(onsets[:-1], stages, strict=True)
    ]
    edfio.Edf([], annotations=annotations).write(path)
    found = [(a.onset_s, a.duration_s, a.text) for a in read_annotations(path, MOST)]
    assert found == [(a.onset, a.duration, a.text) for a in annotations]


@given(st.integers(8, 255 + 512), st.binary(min_size=1, max_size=8))
def test_changed_header_is_found_or_leaves_the_sizes(
    tmp_path_factory: pytest.TempPathFactory, at: int, change: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "x.edf"
    edfio.Edf([signal("a"), signal("b", 600, 20)], data_record_duration=10).write(path)
    content = bytearray(path.read_bytes())
    content[at : at + len(change)] = change
    path.write_bytes(content)
    try:
        header = read_header(path)
    except DamagedRecord as error:
        assert str(error).isprintable()  # noqa: PT017 either outcome is right, a library's error is not
    else:
        n_bytes = 256 * 3 + 2 * header.n_data_records * sum(
            found.n_per_data_record for found in header.signals
        )
        assert n_bytes == path.stat().st_size


@pytest.mark.parametrize(
    "text", [b"+0\x15", b"0\x14a\x14\0", b"+x\x14a\x14\0", b"+" + b"9" * 4999 + b"\x14a\x14\0"]
)
def test_text_that_is_no_annotation_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "x.edf"
    edfio.Edf([], annotations=[edfio.EdfAnnotation(0, 30, "x" * 6000)]).write(path)
    content = path.read_bytes()
    start = 256 * 2
    path.write_bytes(content[:start] + text + content[start + len(text) :])
    with pytest.raises(DamagedRecord, match="is no annotation"):
        read_annotations(path, MOST)
