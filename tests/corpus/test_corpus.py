"""Every file of the corpus is refused in one line, and the corpus is small and whole."""

import re
from pathlib import Path

import pytest

from bench.datasets.contract import DamagedRecord
from bench.errors import BenchError
from tests.corpus.cases import CASES, FILES, Case, sound_file
from tests.corpus.sound import KINDS

MOST_BYTES = 2_000_000


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}/{case.name}")
def test_damaged_file_is_refused_in_one_line(case: Case, tmp_path: Path) -> None:
    place = sound_file(case, tmp_path / "folder")
    place.write_bytes(case.path.read_bytes())
    with pytest.raises((DamagedRecord, BenchError), match=re.escape(case.words)) as refused:
        KINDS[case.kind][1](tmp_path / "folder")
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("kind", sorted({case.kind for case in CASES}))
def test_folder_is_read_without_the_damaged_file(kind: str, tmp_path: Path) -> None:
    write, read = KINDS[kind]
    write(tmp_path)
    read(tmp_path)


def test_corpus_is_small_and_whole() -> None:
    files = {path for path in FILES.rglob("*") if path.is_file()}
    assert files == {case.path for case in CASES}
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
