"""The commands of the analyses, as far as a user sees them: what is printed, written and refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench.analyses.contract import Analysis
from bench.analyses.registry import analyses
from bench.cli.analysis_command import analysis_command
from bench.cli.analyze import command as analyze
from bench.errors import BenchError, DataError, RecordError, UsageError
from tests.fixtures.trained_cells import Trained

SUFFIXES = {".tex", ".md", ".csv", ".json", ".pdf", ".svg", ".png", ".txt"}


def invoke(analysis: str, *arguments: object) -> Result:
    """Run an analysis in this process; an error keeps its type."""
    return CliRunner().invoke(analyze, [analysis, *map(str, arguments)], catch_exceptions=False)


def written(out: Path, stem: str) -> set[str]:
    return {path.suffix for path in (out / "report").glob(f"*/{stem}.*")}


@pytest.fixture
def out(trained: Trained, tmp_path: Path) -> Path:
    """The cells of the trained folder in one that a test may write to."""
    (tmp_path / "cells").symlink_to(trained.out / "cells")
    return tmp_path


def test_missing_sensors_prints_and_writes(out: Path, trained: Trained) -> None:
    done = invoke(
        "missing-sensors",
        *("--datasets", "uci-har", "--out", out, "--data", trained.data, "--draws", 1, "--device", "cpu"),
    )
    assert "medmamba, channel dropout 0.1 minus off" in done.output
    assert "SIMULATED" in done.output
    assert written(out, "missing-sensors-uci-har") == SUFFIXES
    assert (out / "analyses" / "missing-sensors" / "uci-har.json").is_file()


def test_missing_sensors_refuses_a_recipe_without_cells(out: Path, trained: Trained) -> None:
    with pytest.raises(RecordError, match="no trained medmamba on uci-har of recipe 'medformer'"):
        invoke(
            "missing-sensors",
            *("--datasets", "uci-har", "--out", out, "--data", trained.data, "--recipe", "medformer"),
        )


def test_cells_of_the_data_given_are_taken_and_the_others_told(out: Path, trained: Trained) -> None:
    done = invoke("scales", "--datasets", "uci-har", "--out", out, "--data", trained.data, "--device", "cpu")
    assert "medmamba on uci-har: takes recipe medmamba" in done.stderr
    assert "leaves out 1 other groups" in done.stderr


@pytest.mark.parametrize("command", ["embedding", "theory"])
def test_imported_datasets_are_known(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="unknown dataset 'own-data'"):
        invoke(command, "--datasets", "own-data", "--data", tmp_path, "--out", tmp_path / "out")
    (tmp_path / "own-data").mkdir()
    (tmp_path / "own-data" / "dataset.toml").touch()
    with pytest.raises(RecordError, match="on own-data"):
        invoke(command, "--datasets", "own-data", "--data", tmp_path, "--out", tmp_path / "out")


def test_scales_prints_and_writes(out: Path, trained: Trained) -> None:
    done = invoke("scales", "--datasets", "uci-har", "--out", out, "--data", trained.data, "--device", "cpu")
    assert (
        "What the paper says of bands is about the EEG of ADFTD at 256 Hz; these data are different."
        in done.output
    )
    assert written(out, "scales-uci-har") == {".pdf", ".svg", ".png", ".txt"}
    assert written(out, "scales-worth-uci-har") == {".tex", ".md", ".csv", ".json"}


def test_centralization_of_what_is_there_names_what_is_not(trained: Trained, tmp_path: Path) -> None:
    done = invoke("centralization", "--data", trained.data, "--out", tmp_path)
    assert "left out: weather:" in done.output
    assert "UCI-HAR, SIMULATED" in done.output
    assert "Nothing here can be compared with the published numbers." in done.output
    assert written(tmp_path, "centralization") == SUFFIXES


def test_centralization_of_a_dataset_named_and_missing_is_an_error(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder; get Weather"):
        invoke("centralization", "--datasets", "weather", "--data", trained.data, "--out", tmp_path)


def test_centralization_of_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is there; give their folder with --data"):
        invoke("centralization", "--data", tmp_path / "empty", "--out", tmp_path)


def test_one_channel_is_called_meaningless(simulated: Callable[[str], Path], tmp_path: Path) -> None:
    root = simulated("sleep-edf")
    done = invoke("centralization", "--datasets", "sleep-edf", "--data", root, "--out", tmp_path)
    assert "one channel: SCI is 1 and DIC is 0 whatever the signal" in done.output


@pytest.mark.parametrize("name", analyses())
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_computed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[object] = []
    monkeypatch.setattr(Analysis, "run", lambda *given: computed.append(given))
    (tmp_path / "file").write_text("not a folder")
    command = analysis_command(analyses()[name])
    with pytest.raises(BenchError, match="cannot write to"):
        command.main(["--out", str(tmp_path / "file" / "r")], standalone_mode=False)
    assert computed == []
