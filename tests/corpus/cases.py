"""The corpus: a minimal damaged file of each kind that once was a crash, a traceback, a hang, or wrong without a word.

    python -m tests.corpus.cases

writes the files anew, beside this one. All of them are made here from small simulated ones.
"""

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.datasets import ptb_xl, sleep_edf, uci_har
from tests.corpus import content
from tests.corpus.content import Damage, at, field, first, instead, npy, whole
from tests.corpus.sound import KINDS, RECORD

FILES = Path(__file__).with_name("files")
_SET = "derivatives/sub-001/eeg/sub-001_task-eyesclosed_eeg.set"
_PSG, _HYPNOGRAM = f"{sleep_edf.STUDY}/SC4001E0-PSG.edf", f"{sleep_edf.STUDY}/SC4001EC-Hypnogram.edf"
_UCI = f"{uci_har.ARCHIVE_FOLDER}/train"
_HEADER = "records500/00000/00001_hr.hea"
_SHAPE = "{'descr': '<f4', 'fortran_order': False, 'shape': "


class Case(NamedTuple):
    """A damaged file, where it lies in an otherwise sound folder, and words of the one line that refuses it."""

    kind: str
    name: str
    place: str
    damage: Damage
    words: str

    @property
    def path(self) -> Path:
        """The file in the corpus."""
        return FILES / self.kind / f"{self.name}{Path(self.place).suffix}"


CASES = (
    Case("adftd", "sparse", _SET, content.sparse_recording, "EEG.data is other (19, 500)"),
    Case("adftd", "logical", _SET, content.logical_recording, "EEG.data is bool (19, 500)"),
    Case("adftd", "inflates", _SET, content.matlab_bomb, "not a readable MATLAB 5 file"),
    Case("adftd", "cut-short", _SET, first(3000), "52784 bytes announced"),
    Case("adftd", "web-page", _SET, whole(b"<html>not found</html>\n"), "shorter than the header"),
    Case("adftd", "git-annex", _SET, whole(b"/annex/objects/MD5E-s1--0.set\n"), "is a git-annex placeholder"),
    Case(
        "adftd",
        "nul-in-name",
        "participants.tsv",
        whole(b"participant_id\tGroup\nsub-\x00\tA\n"),
        "is not a subject's name",
    ),
    Case(
        "adftd-7.3", "absent-parts", _SET, content.hdf5(content.absent_parts), "EEG.data holds 0 of 6 parts"
    ),
    Case(
        "adftd-7.3", "fan-out", _SET, content.hdf5(content.fan_out), "chanlocs.labels announces 16000 bytes"
    ),
    Case("apava", "pickled-labels", "label.npy", content.pickled_labels, "not a readable .npy table"),
    Case(
        "apava",
        "broken-zip-labels",
        "label.npy",
        whole(b"PK\x03\x04" + bytes(40)),
        "not a readable .npy table",
    ),
    Case("apava", "inflates", "preproctrials01.mat", content.matlab_bomb, "not a readable MATLAB 5 file"),
    Case(
        "ptb",
        "negative-gain",
        "patient001/s0001_re.hea",
        instead(b" 2000 ", b" -2000 "),
        "i has a gain of -2000.0",
    ),
    Case(
        "ptb",
        "other-unit",
        "patient001/s0001_re.hea",
        instead(b" 2000 ", b" 2000/uV "),
        "i is in 'uV' instead of 'mV'",
    ),
    Case("ptb", "climbs", "RECORDS", whole(b"../../patient001/s0001_re\n"), "is no record of PTB"),
    Case("ptb", "lone-surrogate", "RECORDS", whole(b"patient001/\xed\xa0\x80\n"), "is no record of PTB"),
    Case("ptb-xl", "nested", ptb_xl.TABLE, instead(b"{'", b"{" * 3000 + b"'"), "is not code: likelihood"),
    Case("ptb-xl", "swapped-ids", ptb_xl.TABLE, instead(b"\n1,1.0,", b"\n7,1.0,"), "the file of ecg_id 7"),
    Case(
        "ptb-xl",
        "checksum-of-zero",
        _HEADER,
        instead(b"-35 59921", b"-35 0"),
        "some converters leave it at 0",
    ),
    Case(
        "ptb-xl",
        "initial-value",
        _HEADER,
        instead(b"-35 59921", b"-36 59921"),
        "I starts with -35, the header says -36",
    ),
    Case("sleep-edf", "record-size", _PSG, at(236, b"7       "), "its header announces 42512"),
    Case("sleep-edf", "long-records", _PSG, at(244, b"3e10    "), "an absurd value"),
    Case("sleep-edf", "other-start", _PSG, at(176, b"12.00.00"), "they are not of one night"),
    Case("sleep-edf", "other-unit", _PSG, instead(b"uV      ", b"mV      "), "is in 'mV' instead of 'uV'"),
    Case("sleep-edf", "cut-short", _HYPNOGRAM, first(500), "truncated inside the header"),
    Case(
        "sleep-edf",
        "odd-duration",
        _HYPNOGRAM,
        instead(b"\x15120\x14Sleep stage 2", b"\x153e10\x14Sleep stage "),
        "is no annotation",
    ),
    Case(
        "uci-har",
        "huge-number",
        f"{_UCI}/subject_train.txt",
        whole(b"9" * 5000 + b"\n1\n1\n"),
        "expected 1 to 30",
    ),
    Case(
        "uci-har", "superscript", f"{_UCI}/y_train.txt", whole("²\n3\n3\n".encode()), "'²', expected 1 to 6"
    ),
    Case("uci-har", "infinite", f"{_UCI}/y_train.txt", whole(b"inf\n3\n3\n"), "'inf', expected 1 to 6"),
    Case(
        "weather",
        "infinite",
        "weather.csv",
        instead(b",0.00,", b",1e400,"),
        "row 2: a value that is not a finite number",
    ),
    Case(
        "npz",
        "understated",
        "windows.npz",
        whole(content.deflated({"windows.npy": npy(_SHAPE + "(99999999, 99999)}\n", bytes(8))})),
        "takes 39999599600083 bytes, the file has",
    ),
    Case(
        "npz",
        "lzma",
        "windows.npz",
        whole(content.deflated({"windows.npy": content.saved(np.zeros(3))}, zipfile.ZIP_LZMA)),
        "compressed by method 14",
    ),
    Case(
        "npz",
        "equal-classes",
        "dataset.toml",
        instead(b'"a", "b"', b'"a", "a"'),
        "must differ, 'a' is there twice",
    ),
    Case("npz", "nested", "dataset.toml", whole(b"name = " + b"[" * 3000), "not readable as TOML"),
    Case(
        "npy",
        "negative-shape",
        "windows.npy",
        whole(npy(_SHAPE + "(-1,)}\n", bytes(8))),
        "is no array of plain numbers or text",
    ),
    Case("npy", "nested-header", "windows.npy", whole(npy("[" * 3000)), "not a readable .npy file"),
    Case("npy", "objects", "subject.npy", content.pickled_labels, "holds Python objects"),
    Case(
        "record", "climbs", RECORD, field("cell.dataset", "../../../climbed"), "'../../../climbed' is no name"
    ),
    Case("record", "markup", RECORD, field("cell.model", "<img src=x onerror=alert(1)>"), "is no name"),
    Case(
        "record",
        "score-above-one",
        RECORD,
        field("metrics.test.accuracy", 1.5),
        "field 'metrics.test.accuracy'",
    ),
    Case(
        "record",
        "negative-count",
        RECORD,
        field("data.n_skipped_records", -1),
        "field 'data.n_skipped_records'",
    ),
    Case("record", "unknown-schema", RECORD, field("schema", 99), "schema 99 is newer"),
    Case("record", "nested", RECORD, whole(b"[" * 5000), "nested deeper than 32 levels"),
    Case(
        "record", "huge-number", RECORD, instead(b'"schema": 1', b'"schema": ' + b"9" * 5000), "is too large"
    ),
    Case("planned", "nested", "planned.json", whole(b"[" * 5000), "nested deeper than 32 levels"),
    Case("predictions", "pickle", "predictions.npz", content.bare_pickle, "not readable as predictions"),
    Case("predictions", "cut-short", "predictions.npz", first(200), "not readable as predictions"),
    Case(
        "arrays",
        "objects",
        "stem.npz",
        lambda _: content.deflated({"map.npy": content.pickled_labels(b"")}),
        "not readable as arrays",
    ),
    Case("pack", "empty", "pack.zip", whole(content.deflated({})), "no manifest.json"),
    Case(
        "pack",
        "encrypted",
        "pack.zip",
        lambda _: content.encrypted(content.deflated({"manifest.json": b"{}"})),
        "'manifest.json' is encrypted",
    ),
    Case("pack", "null-hash", "pack.zip", content.null_hash, "field 'files.report/index.html.sha256'"),
    Case(
        "archive",
        "climbs",
        "archive.zip",
        whole(content.deflated({"../evil.mat": b"1"})),
        "leads out of the folder",
    ),
    Case("archive", "encrypted", "archive.zip", content.encrypted, "is encrypted"),
    Case("archive", "understated", "archive.zip", content.understated, "cannot be unpacked"),
    Case(
        "archive",
        "lzma",
        "archive.zip",
        whole(content.deflated({"a.mat": b"1"}, zipfile.ZIP_LZMA)),
        "compressed by method 14",
    ),
    Case("archive", "tar", "archive.zip", whole(content.tar("a.mat", b"1")), "not a zip archive"),
    Case("checkpoint", "empty", "weights.pth", whole(b""), "not a file of plain tensors (EOFError)"),
    Case(
        "checkpoint", "text", "weights.pth", whole(b"version https://example.org/spec\n"), "which is not run"
    ),
    Case("checkpoint", "code", "weights.pth", content.pickled_code, "which is not run"),
    Case(
        "own-dataset",
        "exits",
        "mine.py",
        whole(b"import sys\n\nsys.exit(0)\n"),
        "line 3: import failed (SystemExit: 0)",
    ),
)


def sound_file(case: Case, folder: Path) -> Path:
    """Write the sound folder of a case and return the file in it that is to be replaced."""
    folder.mkdir(parents=True)
    KINDS[case.kind][0](folder)
    return folder / case.place


def main() -> None:
    """Write every file of the corpus."""
    shutil.rmtree(FILES, ignore_errors=True)
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            sound = sound_file(case, Path(folder) / "sound").read_bytes()
        case.path.parent.mkdir(parents=True, exist_ok=True)
        case.path.write_bytes(case.damage(sound))


if __name__ == "__main__":
    main()
