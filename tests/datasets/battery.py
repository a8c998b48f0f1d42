"""What every dataset has to do: one ``check_*`` function per promise, called with a simulated cohort of it.

A check takes a `Subject`: the dataset's reader and the root of a cohort, which it must leave as it is.
"""

import hashlib
import os
import pickle
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import datasets
from bench.datasets.contract import DamagedRecord, Reader, SourceList
from bench.errors import DataError

HEAVY = ("torch", "wfdb", "mne", "scipy", "pandas", "neurokit2", "h5py", "sklearn")
MUTATIONS = 12
_SNIPPETS = (b"0", b"-1", b"nan", b"1e400", b" ", b"\n", b"\t", b",", b"99999999", b"\xff\xfe")


@dataclass(frozen=True)
class Subject:
    """A dataset under test; ``others`` are roots of cohorts of other datasets, ``spare`` is an empty folder."""

    name: str
    root: Path
    others: dict[str, Path]
    spare: Path

    @property
    def reader(self) -> Reader:
        return datasets.reader(self.name)

    @property
    def folder(self) -> Path:
        return self.root / self.name


def check_facts_are_complete(subject: Subject) -> None:
    facts = subject.reader.FACTS
    assert facts.name == subject.name
    assert len(set(facts.class_names)) == facts.n_classes >= 2
    assert len(set(facts.channel_names)) == facts.n_channels
    texts = (facts.title, facts.version, facts.task, facts.licence, facts.citation, facts.split_rule)
    assert all(texts)
    assert facts.layout
    assert facts.homepage.startswith("https://")
    assert facts.n_subjects > 0


def check_import_is_light(subject: Subject) -> None:
    code = f"import sys; from bench import datasets; datasets.facts({subject.name!r}); print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert not set(done.stdout.split()) & set(HEAVY)


def check_records_are_listed_in_one_order(subject: Subject) -> None:
    first, second = (subject.reader.records(subject.folder) for _ in range(2))
    assert first == second
    names = [record.name for record in first.records]
    assert len(set(names)) == len(names) > 0


def check_paths_are_files_of_the_folder(subject: Subject) -> None:
    for record in subject.reader.records(subject.folder).records:
        assert record.paths
        for path in record.paths:
            assert (subject.folder / path).resolve().is_relative_to(subject.folder.resolve())
            assert (subject.folder / path).is_file()


def check_windows_are_as_the_facts_say(subject: Subject) -> None:
    facts = subject.reader.FACTS
    for record in subject.reader.records(subject.folder).records[:3]:
        cut = subject.reader.cut(subject.folder, record)
        n = len(cut.windows)
        assert n > 0
        assert (cut.windows.shape, cut.windows.dtype) == ((n, facts.n_times, facts.n_channels), np.float32)
        assert np.isfinite(cut.windows).all()
        assert (cut.labels.shape, cut.labels.dtype) == ((n,), np.int64)
        assert set(cut.labels.tolist()) <= set(range(facts.n_classes))
        assert (len(cut.subject), len(cut.record)) == (n, n)


def check_reading_twice_gives_the_same_bytes(subject: Subject) -> None:
    record = subject.reader.records(subject.folder).records[0]
    first, second = (subject.reader.cut(subject.folder, record) for _ in range(2))
    assert first.windows.tobytes() == second.windows.tobytes()


def check_reading_survives_pickling(subject: Subject) -> None:
    record = subject.reader.records(subject.folder).records[0]
    assert pickle.loads(pickle.dumps(record)) == record
    cut = subject.reader.cut(subject.folder, record)
    assert pickle.loads(pickle.dumps(cut)).windows.tobytes() == cut.windows.tobytes()


def check_reading_writes_nothing(subject: Subject) -> None:
    before = _snapshot(subject.root)
    datasets.prepare(subject.name, subject.root)
    assert _snapshot(subject.root) == before


def check_every_class_is_in_every_part(subject: Subject) -> None:
    manifest = datasets.prepare(subject.name, subject.root)
    split = datasets.make_split(subject.name, manifest.subjects)
    for part in (split.train, split.validation, split.test):
        chosen = [one.windows_per_class for one in manifest.subjects if one.name in part]
        assert all(sum(column) > 0 for column in zip(*chosen, strict=True))


def check_cohort_is_marked_as_simulated(subject: Subject) -> None:
    manifest = datasets.prepare(subject.name, subject.root)
    assert manifest.provenance.kind == "simulated"
    assert manifest.provenance.simulator["seed"] == 7


def check_cohort_is_of_demo_size(subject: Subject) -> None:
    assert 200 <= datasets.prepare(subject.name, subject.root).n_windows <= 1000


def check_loading_scales_as_the_facts_say(subject: Subject) -> None:
    dataset = datasets.load(subject.name, subject.root)
    assert dataset.normalisation == subject.reader.FACTS.normalisation
    assert np.isfinite(dataset.windows).all()
    if dataset.normalisation == "window":
        np.testing.assert_allclose(dataset.windows.mean(axis=1, dtype=np.float64), 0.0, atol=1e-5)


def check_missing_folder_is_refused(subject: Subject) -> None:
    _refused(subject.name, subject.spare)


def check_empty_folder_is_refused(subject: Subject) -> None:
    (subject.spare / subject.name).mkdir()
    _refused(subject.name, subject.spare)


def check_folder_of_another_dataset_is_refused(subject: Subject) -> None:
    for other, root in subject.others.items():
        (subject.spare / other).mkdir()
        (subject.spare / other / subject.name).symlink_to(root / other)
        _refused(subject.name, subject.spare / other)


def check_empty_files_are_refused(subject: Subject) -> None:
    reader, folder = subject.reader, subject.spare / subject.name
    files = _copy(subject)
    before = _first_read(reader, folder)
    of_record = {folder / path for path in reader.records(folder).records[0].paths}
    for path in files:
        content = path.read_bytes()
        path.write_bytes(b"")
        noticed = _read_first(reader, folder)
        assert noticed or path not in of_record, f"{path.name} is empty and was not noticed"
        # A file that nobody misses has no say in the windows.
        assert noticed or _first_read(reader, folder) == before, (
            f"{path.name}: empty, and changes the windows"
        )
        path.write_bytes(content)


def check_cut_off_files_are_refused(subject: Subject) -> None:
    _check_damage(subject, lambda content, generator: content[: generator.randrange(len(content))])


def check_foreign_bytes_are_refused(subject: Subject) -> None:
    _check_damage(subject, lambda content, generator: generator.randbytes(len(content)))


def check_flipped_bytes_never_raise_anything_else(subject: Subject) -> None:
    def flip(content: bytes, generator: random.Random) -> bytes:
        changed = bytearray(content)
        for _ in range(3):
            changed[generator.randrange(min(len(changed), 4096))] = generator.randrange(256)
        return bytes(changed)

    _each_damage(subject, flip)


def check_missing_files_never_raise_anything_else(subject: Subject) -> None:
    # A record that is not there may be an excerpt's right, so not every missing file is refused.
    hidden = subject.spare / "hidden"
    for path in _copy(subject):
        path.rename(hidden)
        _read_first(subject.reader, subject.spare / subject.name)
        hidden.rename(path)


def survives_mutations(subject: Subject, n_mutations: int, seed: int) -> None:
    """Mutate one file after the other in many ways; nothing but our own errors may come of it."""
    generator = random.Random(seed)
    files = _copy(subject)
    for _ in range(n_mutations):
        path = generator.choice(files)
        content = path.read_bytes()
        path.write_bytes(_mutated(content, generator))
        _read_first(subject.reader, subject.spare / subject.name)
        path.write_bytes(content)


CHECKS: list[Callable[[Subject], None]] = [
    value for name, value in list(globals().items()) if name.startswith("check_")
]


def _refused(name: str, root: Path) -> None:
    try:
        datasets.prepare(name, root)
    except DataError as error:
        _require_one_line(error)
        return
    raise AssertionError(f"{name} was prepared from {root}")


def _check_damage(subject: Subject, change: Callable[[bytes, random.Random], bytes]) -> None:
    outcomes = _each_damage(subject, change)
    assert any(outcomes), "no damaged file was noticed"


def _each_damage(subject: Subject, change: Callable[[bytes, random.Random], bytes]) -> list[bool]:
    """Damage files of a copy one after the other; tell for each whether it was noticed."""
    generator = random.Random(3)
    files = _copy(subject)
    noticed = []
    for path in generator.sample(files, min(MUTATIONS, len(files))):
        content = path.read_bytes()
        path.write_bytes(change(content, generator))
        noticed.append(_read_first(subject.reader, subject.spare / subject.name))
        path.write_bytes(content)
    return noticed


def _copy(subject: Subject) -> list[Path]:
    """Copy the cohort to the spare folder; return the copied tables and files of the first record."""
    first, *others = subject.reader.records(subject.folder).records
    of_others = {path for record in others for path in record.paths} - set(first.paths)
    folder = Path(shutil.copytree(subject.folder, subject.spare / subject.name))
    assert not _read_first(subject.reader, folder), "the copy is refused before it is damaged"
    return [path for path in _files(folder) if path.relative_to(folder).as_posix() not in of_others]


def _first_read(reader: Reader, folder: Path) -> tuple[SourceList, bytes, bytes]:
    """Return the list of records and what the first of them holds."""
    listing = reader.records(folder)
    cut = reader.cut(folder, listing.records[0])
    return listing, cut.windows.tobytes(), cut.labels.tobytes()


def _read_first(reader: Reader, folder: Path) -> bool:
    """List the records and read the first; tell whether anything was refused. Other errors come through."""
    try:
        records = reader.records(folder).records
    except DataError as error:
        _require_one_line(error)
        return True
    if not records:
        return True
    try:
        reader.cut(folder, records[0])
    except (DamagedRecord, DataError) as error:
        _require_one_line(error)
        return True
    return False


def _mutated(content: bytes, generator: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(generator.randint(1, 5)):
        # Half of them near the start, where headers are.
        end = len(changed) if generator.random() < 0.5 else min(len(changed), 3000)
        at, kind = generator.randrange(end + 1), generator.randrange(5)
        if kind == 0:
            changed[at : at + 1] = bytes([generator.randrange(256)])
        elif kind == 1:
            del changed[at : at + generator.randint(1, 60)]
        elif kind == 2:
            changed[at:at] = generator.choice(_SNIPPETS)
        elif kind == 3:
            del changed[at:]
        else:
            changed[at : at + 4] = generator.choice((b"\xff\xff\xff\x7f", bytes(4), b"\xff" * 4))
    return bytes(changed)


def _require_one_line(error: Exception) -> None:
    assert str(error)
    assert "\n" not in str(error)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in _files(folder)
    }
