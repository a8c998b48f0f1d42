"""Export: what goes out comes back the same, with its classes, its name and its split."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from bench.datasets import load, make_split, prepare, register_imported
from bench.datasets.contract import Dataset
from bench.datasets.own import transfer
from bench.datasets.own.window_folder import Description, read_description
from bench.errors import DataError, UsageError
from tests.datasets.own.user_folders import KNOWN, medformer, read_all


@pytest.fixture(scope="module")
def exported(
    tmp_path_factory: pytest.TempPathFactory, simulated: Callable[[str], Path]
) -> tuple[Dataset, Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        dataset = load("ptb", simulated("ptb"), normalise=False)
    target = tmp_path_factory.mktemp("exported") / "out"
    transfer.export_windows(dataset, target)
    return dataset, target


def test_exported_windows_come_back_the_same(exported: tuple[Dataset, Path], tmp_path: Path) -> None:
    dataset, target = exported
    folder = transfer.import_windows(target, tmp_path)
    assert folder.name == "ptb-windows"
    found = read_all(folder)
    assert list(found) == list(dict.fromkeys(map(str, dataset.subject)))
    for name, (windows, labels) in found.items():
        chosen = dataset.indices((name,))
        assert np.array_equal(windows, dataset.windows[chosen])
        assert np.array_equal(labels, dataset.labels[chosen])


def test_exported_folder_is_of_medformers_form(exported: tuple[Dataset, Path]) -> None:
    dataset, target = exported
    table = np.load(target / "Label" / "label.npy", allow_pickle=False)
    assert table[:, 1].tolist() == list(range(1, len(set(dataset.subject)) + 1))
    assert len(np.load(target / "Feature" / "feature_001.npy", allow_pickle=False).shape) == 3


def test_simulated_windows_stay_marked(exported: tuple[Dataset, Path], tmp_path: Path) -> None:
    _, target = exported
    assert (target / "SIMULATED.json").exists()
    assert (transfer.import_windows(target, tmp_path) / "SIMULATED.json").exists()


def test_classes_that_change_within_subjects_come_back(
    tmp_path: Path, simulated: Callable[[str], Path]
) -> None:
    dataset = load("uci-har", simulated("uci-har"), normalise=False)
    transfer.export_windows(dataset, tmp_path / "out")
    found = read_all(transfer.import_windows(tmp_path / "out", tmp_path))
    for name, (_, labels) in found.items():
        assert np.array_equal(labels, dataset.labels[dataset.indices((name,))])


def test_export_does_not_replace_a_folder(exported: tuple[Dataset, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="exists already"):
        transfer.export_windows(exported[0], tmp_path)


def test_description_in_the_documents_can_be_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "datasets.md").read_text(encoding="utf-8")
    (tmp_path / "dataset.toml").write_text(text.split("```toml\n")[1].split("```")[0])
    described = read_description(tmp_path / "dataset.toml")
    assert set(described.model_dump(exclude_unset=True)) == set(Description.model_fields)


def varying(folder: Path) -> Path:
    """A Medformer folder in which subject 2 has windows of classes 0 and 2."""
    medformer(folder)
    np.save(folder / "Label" / "label.npy", np.array([(-1, 2), (0, 10), (1, 1)]))
    np.save(folder / "Label" / "window_label_2.npy", np.array([0, 2, 2, 0]))
    return folder


def test_a_folder_with_rows_of_class_minus_1_describes_itself_and_comes_in(tmp_path: Path) -> None:
    source = varying(tmp_path / "in")
    found = transfer.described(source, name="mine", sampling_rate_hz=50.0)
    assert found.class_names == ("class 0", "class 1", "class 2")
    labels = read_all(transfer.import_windows(source, tmp_path, description=found))
    assert {name: of_subject.tolist() for name, (_, of_subject) in labels.items()} == {
        "1": [1] * 4,
        "2": [0, 2, 2, 0],
        "10": [0] * 4,
    }


def test_a_described_folder_can_get_another_name(exported: tuple[Dataset, Path]) -> None:
    _, source = exported
    found = transfer.described(source, name="again", sampling_rate_hz=None)
    assert found == read_description(source / "dataset.toml").model_copy(update={"name": "again"})
    with pytest.raises(UsageError, match="name 'Again'"):
        transfer.described(source, name="Again", sampling_rate_hz=None)


def test_a_given_split_is_kept_through_import_and_export(tmp_path: Path) -> None:
    parts = {"train": ["2"], "validation": ["10"], "test": ["1"]}
    description = Description.model_validate(KNOWN.model_dump() | {"split": parts})
    transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=description)
    register_imported(tmp_path)
    manifest = prepare("mine", tmp_path)
    split = make_split("mine", manifest.subjects)
    assert (split.origin, split.train, split.validation, split.test) == ("given", ("2",), ("10",), ("1",))
    assert make_split("mine", manifest.subjects, "fold 1/3", 1).origin == "fold-1/3-1"
    transfer.export_windows(load("mine", tmp_path, normalise=False), tmp_path / "out", split)
    assert read_description(tmp_path / "out" / "dataset.toml").split == description.split


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"train": ["2"], "validation": ["10"], "test": ["11"]}, r"subject '1' is in no part of \[split\]"),
        ({"train": ["2", "11"], "validation": ["10"], "test": ["1"]}, "subject '11' has no windows"),
    ],
)
def test_a_split_that_does_not_fit_is_refused(
    tmp_path: Path, parts: dict[str, list[str]], message: str
) -> None:
    description = Description.model_validate(KNOWN.model_dump() | {"split": parts})
    transfer.import_windows(medformer(tmp_path / "in"), tmp_path, description=description)
    register_imported(tmp_path)
    with pytest.raises(DataError, match=message):
        make_split("mine", prepare("mine", tmp_path).subjects)


def test_a_subject_in_two_parts_is_refused() -> None:
    parts = {"train": ["a", "b"], "validation": ["c"], "test": ["a"]}
    with pytest.raises(ValidationError, match="'a' is there twice"):
        Description.model_validate(KNOWN.model_dump() | {"split": parts})
