"""PTB-XL: the real excerpt against the published reference, its tables and records, sound and damaged."""

import ast
import csv
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import datasets
from bench.datasets import ptb_xl
from bench.datasets.contract import DamagedRecord, SourceRecord, require_disjoint
from bench.datasets.simulate import ptb_xl as simulator
from bench.errors import DataError, UsageError

HEADER = "ecg_id,patient_id,scp_codes,filename_hr"


@pytest.fixture
def folder(tmp_path: Path, simulated: Callable[[str], Path]) -> Path:
    """Return a folder with the statements of a cohort, and the table still to be written."""
    shutil.copy(simulated("ptb-xl") / "ptb-xl" / ptb_xl.STATEMENTS, tmp_path)
    return tmp_path


@pytest.fixture
def one_record(tmp_path: Path, simulated: Callable[[str], Path]) -> Path:
    """Return a folder with one sound record, records500/00000/00001_hr."""
    source = simulated("ptb-xl") / "ptb-xl" / "records500" / "00000"
    (tmp_path / "records500" / "00000").mkdir(parents=True)
    for end in (".hea", ".dat"):
        shutil.copy(source / f"00001_hr{end}", tmp_path / "records500" / "00000")
    return tmp_path


RECORD = SourceRecord(
    name="00001_hr",
    subject="1",
    label=0,
    paths=("records500/00000/00001_hr.hea", "records500/00000/00001_hr.dat"),
)


def write_table(folder: Path, *rows: tuple[int, float, str], header: str = HEADER) -> None:
    lines = [
        f'{ecg_id},{patient},"{codes}",records500/00000/{ecg_id:05d}_hr' for ecg_id, patient, codes in rows
    ]
    (folder / ptb_xl.TABLE).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


def edit_header(folder: Path, old: str, new: str) -> None:
    path = folder / RECORD.paths[0]
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# The real excerpt


def test_real_excerpt_has_the_known_patients(real: Path) -> None:
    listing = ptb_xl.records(real / "ptb-xl")
    reasons = Counter(reason for _, reason in listing.excluded)
    kept = {record.subject for record in listing.records}
    without_any_class = reasons["no record with one of the five classes"]
    assert without_any_class == 7
    assert len(kept) + len(listing.excluded) - without_any_class == 259
    assert reasons["records of different classes"] == 5


def test_real_labels_are_those_of_the_published_reference(real: Path) -> None:
    path = real / "other" / "ptb-xl-metadata" / "reference_first1000_subjects.json"
    published = {
        f"{ecg_id:05d}_hr": label
        for ecg_ids, labels in json.loads(path.read_text()).values()
        for ecg_id, label in zip(ecg_ids, labels, strict=True)
    }
    listing = ptb_xl.records(real / "ptb-xl")
    ours = {record.name: ptb_xl.FACTS.class_names[record.label or 0] for record in listing.records}
    both = ours.keys() & published.keys()
    assert len(both) == 16
    assert {name: ours[name] for name in both} == {name: published[name] for name in both}


def test_real_statements_are_the_table_of_codes(real: Path) -> None:
    with (real / "ptb-xl" / ptb_xl.STATEMENTS).open(encoding="utf-8") as file:
        rows = {row[""]: row["diagnostic_class"] for row in csv.DictReader(file)}
    assert {code: name for code, name in rows.items() if name} == ptb_xl.CLASS_OF_CODE


def test_real_windows_follow_from_the_files_by_other_means(real: Path) -> None:
    record = ptb_xl.records(real / "ptb-xl").records[0]
    raw = np.fromfile(real / "ptb-xl" / record.paths[1], dtype="<i2").reshape(5000, 12) / 1000.0
    points = np.linspace(0, 4999, 2500)
    resampled = np.stack([np.interp(points, np.arange(5000), lead) for lead in raw.T], axis=1)
    scaled = (resampled - resampled.mean(axis=0)) / resampled.std(axis=0)
    cut = ptb_xl.cut(real / "ptb-xl", record)
    np.testing.assert_allclose(cut.windows.reshape(2500, 12), scaled, atol=1e-5)


@pytest.mark.usefixtures("shared_cache")
def test_real_excerpt_prepares_without_damage(real: Path) -> None:
    manifest = datasets.prepare("ptb-xl", real)
    assert manifest.windows_per_class == (920, 440, 590, 540, 220)
    assert (manifest.skipped, manifest.provenance.kind) == ((), "excerpt")


@pytest.mark.usefixtures("shared_cache")
def test_real_parts_share_no_patient(real: Path) -> None:
    manifest = datasets.prepare("ptb-xl", real)
    split = datasets.make_split("ptb-xl", manifest.subjects)
    dataset = datasets.load("ptb-xl", real)
    parts = {
        name: dataset.subject[dataset.indices(getattr(split, name))]
        for name in ("train", "validation", "test")
    }
    require_disjoint(**parts)
    assert sum(map(len, parts.values())) == len(dataset.windows) == 2710


# Labels and patients


def test_patients_come_in_order_of_number(folder: Path) -> None:
    write_table(folder, (1, 30.0, "{'NORM': 100.0}"), (2, 4.0, "{'IMI': 80.0}"), (3, 30.0, "{'NORM': 50.0}"))
    listing = ptb_xl.records(folder)
    assert [(one.subject, one.name, one.label) for one in listing.records] == [
        ("4", "00002_hr", 1),
        ("30", "00001_hr", 0),
        ("30", "00003_hr", 0),
    ]


@pytest.mark.parametrize(
    ("codes", "class_name"),
    [
        ("{'NORM': 100.0, 'SR': 0.0}", "NORM"),
        ("{'LVH': 35.0, 'IMI': 50.0}", "MI"),
        ("{'IMI': 50.0, 'LVH': 50.0}", "MI"),
        ("{'LVH': 50.0, 'IMI': 50.0}", "HYP"),
        ("{'1AVB': 100, 'SR': 0}", "CD"),
        ("{'NDT': 0.0}", "STTC"),
    ],
)
def test_likeliest_code_decides_the_first_on_ties(folder: Path, codes: str, class_name: str) -> None:
    write_table(folder, (1, 1.0, codes))
    (record,) = ptb_xl.records(folder).records
    assert record.label == ptb_xl.FACTS.class_names.index(class_name)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (["{'NORM': 100.0}", "{'IMI': 100.0}"], "records of different classes"),
        (["{'NORM': 100.0}", "{'SR': 100.0, 'NORM': 50.0}"], "a record without one of the five classes"),
        (["{'SR': 0.0}"], "no record with one of the five classes"),
        (["{}"], "no record with one of the five classes"),
        (["nan"], "no record with one of the five classes"),
        ([""], "no record with one of the five classes"),
    ],
)
def test_patient_without_one_class_is_left_out(folder: Path, rows: list[str], reason: str) -> None:
    write_table(folder, *((i, 5.0, codes) for i, codes in enumerate(rows, start=1)))
    listing = ptb_xl.records(folder)
    assert (listing.records, listing.excluded) == ((), (("5", reason),))


# Bad tables


@pytest.mark.parametrize("table", [ptb_xl.TABLE, ptb_xl.STATEMENTS])
def test_missing_table_says_it_is_another_folder(folder: Path, table: str) -> None:
    write_table(folder, (1, 1.0, "{'NORM': 100.0}"))
    (folder / table).unlink()
    with pytest.raises(DataError, match=rf"{table} is missing, so this is not PTB-XL's folder.*physionet"):
        ptb_xl.records(folder)


@pytest.mark.parametrize("column", ["ecg_id", "patient_id", "scp_codes", "filename_hr"])
def test_missing_column_is_named(folder: Path, column: str) -> None:
    write_table(folder, (1, 1.0, "{'NORM': 100.0}"), header=HEADER.replace(column, "other"))
    with pytest.raises(DataError, match=rf"ptbxl_database.csv: no column '{column}'"):
        ptb_xl.records(folder)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,1.0,\"{'NORM': 100.0}\"", "line 2: row cut off"),
        ("1,1.0,\"{'NORM': 100.0", r"not a table in UTF-8 \(unexpected end of data\)"),
        ("", "no rows"),
    ],
    ids=["within a row", "within a field", "after the header"],
)
def test_half_a_download_is_noticed(folder: Path, rows: str, message: str) -> None:
    (folder / ptb_xl.TABLE).write_text(f"{HEADER}\n{rows}")
    with pytest.raises(DataError, match=f"{message}.*get the file again"):
        ptb_xl.records(folder)


def test_empty_table_has_no_columns(folder: Path) -> None:
    (folder / ptb_xl.TABLE).write_text("")
    with pytest.raises(DataError, match="no column 'ecg_id'"):
        ptb_xl.records(folder)


def test_unreadable_encoding_is_one_line(folder: Path) -> None:
    (folder / ptb_xl.TABLE).write_bytes(HEADER.encode() + b"\n1,1.0,\xff\xfe,x\n")
    with pytest.raises(DataError, match="not a table in UTF-8"):
        ptb_xl.records(folder)


def test_swapped_numbers_of_record_and_patient_are_refused(folder: Path) -> None:
    rows = "15709,1,\"{'NORM': 100.0}\",records500/00000/00001_hr"
    (folder / ptb_xl.TABLE).write_text(f"{HEADER}\n{rows}\n")
    with pytest.raises(DataError, match="is not within records500 the file of ecg_id 15709"):
        ptb_xl.records(folder)


def test_publishers_copies_are_records_of_the_table() -> None:
    assert len(ptb_xl.KNOWN_COPIES) == 38
    assert "00137_hr" in ptb_xl.KNOWN_COPIES


def test_record_listed_twice_is_refused(folder: Path) -> None:
    write_table(folder, (7, 1.0, "{'NORM': 100.0}"), (7, 2.0, "{'NORM': 100.0}"))
    with pytest.raises(DataError, match="ecg_id 7 occurs twice"):
        ptb_xl.records(folder)


@pytest.mark.parametrize(
    "codes",
    [
        "__import__('os').getcwd()",
        "{'NORM': 'high'}",
        "{'NORM': 1e400}",
        "{'NORM': -1.0}",
        "{'NORM': True}",
        "{1: 100.0}",
        "['NORM']",
        "{'NORM': 100.0",
        "{'NORM': 100.0, " + "'SR': 0.0, " * 300 + "}",
        "(" * 500,
        "{" * 1900,
        "{[]: 100.0}",
        "{'NORM': " + "1" * 1900 + "}",
        "{'NORM': 100.0}x",
        "{'NORM' 100.0}",
        "x",
    ],
)
def test_codes_are_data_and_nothing_else(folder: Path, codes: str) -> None:
    write_table(folder, (1, 1.0, codes))
    with pytest.raises(DataError, match=r"line 2: scp_codes '.*' is not code: likelihood"):
        ptb_xl.records(folder)


@given(
    st.dictionaries(
        st.sampled_from(sorted(ptb_xl.CLASS_OF_CODE)),
        st.integers(0, 200).map(lambda half: half / 2),
        max_size=6,
    )
)
def test_codes_are_read_as_python_reads_them(codes: dict[str, float]) -> None:
    assert ptb_xl._parse_codes(str(codes)) == ast.literal_eval(str(codes)) == codes


def test_unknown_code_is_named(folder: Path) -> None:
    write_table(folder, (1, 1.0, "{'NORM': 100.0, 'NEW': 0.0}"))
    with pytest.raises(DataError, match=r"line 2: code 'NEW' is not in scp_statements.csv"):
        ptb_xl.records(folder)


@pytest.mark.parametrize("patient", ["9" * 5000, "", "nan", "12.5", "-3", "x", "1e3", "²"])
def test_patient_that_is_no_number_is_refused(folder: Path, patient: str) -> None:
    (folder / ptb_xl.TABLE).write_text(f"{HEADER}\n1,{patient},{{}},records500/00000/1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 2: patient_id '.*' is not a whole number"):
        ptb_xl.records(folder)


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "records500/../../x", "records100/00000/1", "records500", ""),
        # Of another record, and of this one in another place.
        *("records500/00000/00002_hr", "records500/01000/00001_hr", "records500/00000/00001_hr/.", "x\x00y"),
    ],
)
def test_file_outside_of_the_folder_is_refused(folder: Path, path: str) -> None:
    (folder / ptb_xl.TABLE).write_text(f"{HEADER}\n1,1.0,{{}},{path}\n")
    with pytest.raises(DataError, match=r"line 2: filename_hr '.*' is not within records500"):
        ptb_xl.records(folder)


# Bad records


def test_sound_record_gives_ten_windows(one_record: Path) -> None:
    cut = ptb_xl.cut(one_record, RECORD)
    assert (cut.windows.shape, cut.windows.dtype) == ((10, 250, 12), np.float32)
    assert set(cut.record) == {"00001_hr"}


def test_lead_names_in_other_case_are_the_same(one_record: Path) -> None:
    before = ptb_xl.cut(one_record, RECORD)
    edit_header(one_record, "AVR", "aVR")
    np.testing.assert_array_equal(ptb_xl.cut(one_record, RECORD).windows, before.windows)


@pytest.mark.parametrize("end", ["hea", "dat"])
def test_missing_file_is_named(one_record: Path, end: str) -> None:
    (one_record / "records500" / "00000" / f"00001_hr.{end}").unlink()
    with pytest.raises(DamagedRecord, match=rf"00001_hr.{end}: no such file"):
        ptb_xl.cut(one_record, RECORD)


@pytest.mark.parametrize("n_bytes", [1, 60_000, 119_999, 120_001])
def test_signal_of_another_length_is_damaged(one_record: Path, n_bytes: int) -> None:
    path = one_record / RECORD.paths[1]
    path.write_bytes((path.read_bytes() + b"\0")[:n_bytes])
    with pytest.raises(DamagedRecord, match=f"00001_hr.dat: {n_bytes} bytes, the header says 120000"):
        ptb_xl.cut(one_record, RECORD)


def test_empty_signal_is_damaged(one_record: Path) -> None:
    (one_record / RECORD.paths[1]).write_bytes(b"")
    with pytest.raises(DamagedRecord, match=r"00001_hr.dat: the file is empty"):
        ptb_xl.cut(one_record, RECORD)


@pytest.mark.parametrize("number", [0, 1])
def test_link_out_of_the_folder_is_not_followed(
    one_record: Path, number: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path, elsewhere = one_record / RECORD.paths[number], tmp_path_factory.mktemp("elsewhere") / "file"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(DamagedRecord, match=f"{path.name}: is outside of the dataset's folder"):
        ptb_xl.cut(one_record, RECORD)


def test_changed_sample_fails_the_checksum(one_record: Path) -> None:
    path = one_record / RECORD.paths[1]
    content = bytearray(path.read_bytes())
    content[24] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedRecord, match=r"checksum of I is \d+, the header says"):
        ptb_xl.cut(one_record, RECORD)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("00001_hr 12 500 5000", "00001_hr 12 250 5000", "250 Hz, expected 500 Hz"),
        ("00001_hr 12 500 5000", "00001_hr 12 500 4000", "4000 samples, expected 5000"),
        ("00001_hr 12 500 5000", "00001_hr 12 500 99999999999999", "99999999999999 samples, expected 5000"),
        ("00001_hr 12 500 5000", "00001_hr 11 500 5000", "11 channels, expected 12|not a WFDB header"),
        ("00001_hr 12 500 5000", "00001_hr/2 12 500 5000", "multi-segment|not a WFDB header"),
        ("00001_hr 12 500 5000", "nonsense", "not a WFDB header"),
        ("AVL", "V9", "channels I II III AVR V9 .* expected I II III AVR AVL"),
        ("00001_hr.dat", "../00002_hr.dat", "names the signal file|not a WFDB header"),
        ("00001_hr.dat", "00002_hr.dat", "names the signal file '00002_hr.dat'"),
        ("dat 16 ", "dat 212 ", "signal format 212, expected plain 16"),
    ],
)
def test_header_of_something_else_is_damaged(one_record: Path, old: str, new: str, message: str) -> None:
    edit_header(one_record, old, new)
    with pytest.raises(DamagedRecord, match=message):
        ptb_xl.cut(one_record, RECORD)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"\n\n"])
def test_empty_or_binary_header_is_damaged(one_record: Path, content: bytes) -> None:
    (one_record / RECORD.paths[0]).write_bytes(content)
    with pytest.raises(DamagedRecord, match=r"00001_hr.hea: "):
        ptb_xl.cut(one_record, RECORD)


def rewrite(folder: Path, change: Callable[[np.ndarray], None]) -> None:
    """Change the samples and give the header the initial values and checksums that go with them."""
    path = folder / RECORD.paths[1]
    samples = np.fromfile(path, dtype="<i2").reshape(5000, 12)
    change(samples)
    samples.tofile(path)
    header = folder / RECORD.paths[0]
    first, *lines = header.read_text().splitlines()
    sums = samples.sum(axis=0, dtype=np.int64) % 65536
    fields = [line.split(" ") for line in lines]
    for field, initial, value in zip(fields, samples[0], sums, strict=True):
        field[5], field[6] = str(initial), str(value)
    header.write_text("\n".join([first, *(" ".join(field) for field in fields)]) + "\n")


def test_invalid_sample_is_damaged(one_record: Path) -> None:
    def invalidate(samples: np.ndarray) -> None:
        samples[100, 6] = -32768

    rewrite(one_record, invalidate)
    with pytest.raises(DamagedRecord, match="missing or invalid samples in V1"):
        ptb_xl.cut(one_record, RECORD)


def test_constant_lead_becomes_zero_and_stays(one_record: Path) -> None:
    def flatten(samples: np.ndarray) -> None:
        samples[:, 3] = 17

    rewrite(one_record, flatten)
    cut = ptb_xl.cut(one_record, RECORD)
    np.testing.assert_array_equal(cut.windows[:, :, 3], 0.0)
    assert cut.windows[:, :, 4].std() > 0.5


def test_record_without_any_signal_is_damaged(one_record: Path) -> None:
    def flatten(samples: np.ndarray) -> None:
        samples[:] = 17

    rewrite(one_record, flatten)
    with pytest.raises(DamagedRecord, match="00001_hr: every lead is constant"):
        ptb_xl.cut(one_record, RECORD)


@pytest.mark.parametrize("seed", range(3))
def test_mutated_files_never_raise_anything_else(one_record: Path, seed: int) -> None:
    generator = random.Random(seed)
    originals = {path: (one_record / path).read_bytes() for path in RECORD.paths}
    messages: list[str] = []
    for _ in range(150):
        for path, content in originals.items():
            (one_record / path).write_bytes(mutated(content, generator))
        try:
            ptb_xl.cut(one_record, RECORD)
        except DamagedRecord as error:
            messages.append(str(error))
    assert len(messages) > 100
    assert not any("\n" in message for message in messages)


def mutated(content: bytes, generator: random.Random) -> bytes:
    if generator.random() < 0.4:
        return content
    changed = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(changed) + 1)
        kind = generator.randrange(3)
        if kind == 0:
            changed[at : at + 1] = bytes([generator.randrange(256)])
        elif kind == 1:
            del changed[at : at + generator.randint(1, 20)]
        else:
            changed[at:at] = generator.choice([b"0", b"-", b" ", b"/", b"x2", b"9999999999", b"nan", b"\n"])
    return bytes(changed)


# The simulated cohort


def test_simulation_needs_four_of_each_class(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ptb-xl: 19 subjects are too few to simulate; give at least 20"):
        simulator.simulate(tmp_path, n_subjects=19, seconds=10.0, seed=0)


def test_simulated_seconds_are_whole_records(tmp_path: Path) -> None:
    simulator.simulate(tmp_path, n_subjects=20, seconds=24.0, seed=0)
    assert Counter(Counter(one.subject for one in ptb_xl.records(tmp_path).records).values()) == {2: 20}


def test_simulated_subject_does_not_depend_on_the_cohorts_size(tmp_path: Path) -> None:
    traces = []
    for n_subjects in (20, 24):
        folder = tmp_path / str(n_subjects)
        folder.mkdir()
        simulator.simulate(folder, n_subjects=n_subjects, seconds=10.0, seed=5)
        label_of = {one.name: one.label for one in ptb_xl.records(folder).records}
        traces.append(
            {
                (name, label): (folder / f"records500/00000/{name}.dat").read_bytes()
                for name, label in label_of.items()
            }
        )
    same_class = traces[0].keys() & traces[1].keys()
    assert same_class
    assert all(traces[0][key] == traces[1][key] for key in same_class)
