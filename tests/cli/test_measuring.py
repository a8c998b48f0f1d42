import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench.cli.analyze import ANALYSES
from bench.cli.analyze import command as analyze
from bench.cli.efficiency import command as efficiency
from bench.cli.measuring import measured_names, parse_numbers, parse_widths, subject_of, task_of
from bench.errors import UsageError
from bench.measure.exclusive import BusyError, training
from bench.models import registry
from bench.results.efficiency import read_efficiency
from bench.results.scaling import read_scaling

TINY = ["--models", "transformer,itransformer", "--preset", "demo", "--device", "cpu", "--threads", "1"]
MACHINE = {"device": "cpu", "threads": 1, "memory_limit_bytes": None}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("results")
    arguments = [*TINY, "--batch", "1,2", "--train-batch", "2", "--time-limit", "0", "--out", str(out)]
    return out, CliRunner().invoke(efficiency, arguments, catch_exceptions=False)


def test_prints_three_tables(measured: tuple[Path, Result]) -> None:
    _, result = measured
    assert result.exit_code == 0
    for title in ("What the models take", "How fast the models are", "How many times as fast"):
        assert title in result.stdout


def test_progress_goes_to_standard_error(measured: tuple[Path, Result]) -> None:
    _, result = measured
    assert "models in turns" in result.stderr
    assert "models in turns" not in result.stdout


def test_writes_a_record_for_every_model(measured: tuple[Path, Result]) -> None:
    records, damaged = read_efficiency(measured[0])
    assert ([one.model for one in records], damaged) == (["itransformer", "transformer"], [])


def test_demo_models_are_small_and_said_to_be(measured: tuple[Path, Result]) -> None:
    (record, _), _ = read_efficiency(measured[0])
    assert (record.hyperparameters["d_model"], record.preset) == (32, "demo")
    assert "of preset demo" in measured[1].stdout


def test_writes_the_report_beside_the_records(measured: tuple[Path, Result]) -> None:
    out, _ = measured
    assert (out / "report" / "tables" / "efficiency-speed.md").exists()
    assert (out / "report" / "figures" / "efficiency-adftd-script-cpu.png").exists()


def test_refuses_while_cells_train(tmp_path: Path) -> None:
    with training("cpu"), pytest.raises(BusyError, match="wait for them to end"):
        CliRunner().invoke(efficiency, [*TINY, "--out", str(tmp_path)], catch_exceptions=False)
    assert not (tmp_path / "efficiency").exists()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--models", "medmanba", "unknown model 'medmanba'. Did you mean 'medmamba'"),
        ("--datasets", "adfdt", "unknown dataset 'adfdt'. Did you mean 'adftd'"),
        ("--widths", "wid", "unknown width 'wid'. Did you mean 'wide'"),
        ("--batch", "1,0", "--batch '1,0': expected positive numbers"),
        ("--train-batch", "x", "--train-batch 'x': expected positive numbers"),
        ("--preset", "dem", "unknown preset 'dem'. Did you mean 'demo'"),
    ],
)
def test_bad_input_is_named(option: str, value: str, said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(efficiency, [option, value, "--out", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).startswith(said)


def test_all_is_the_twelve_and_the_later_medformer() -> None:
    assert set(measured_names("all")) == {*registry.names(all_only=True), "medformer-latest"}


def test_numbers_of_a_list_are_read_once() -> None:
    assert parse_numbers("--batch", "32, 1,32") == [32, 1]


def test_no_training_is_measured_on_request() -> None:
    assert parse_numbers("--train-batch", "none") == []


def test_both_widths_can_be_asked_for() -> None:
    assert parse_widths("script,wide") == ["script", "wide"]


@pytest.mark.parametrize("model", [name for name in measured_names("all") if name != "medmamba"])
def test_every_rival_has_wide_settings(model: str) -> None:
    task = task_of("adftd")
    script, wide = (subject_of(model, task, width, "paper", MACHINE) for width in parse_widths("script,wide"))
    assert wide.hyperparameters["d_model"] > script.hyperparameters["d_model"]


def test_scaling_is_measured_and_reported(tmp_path: Path) -> None:
    arguments = ["--models", "itransformer", "--lengths", "512,1024,2048", "--batch", "1", "--device", "cpu"]
    result = CliRunner().invoke(
        analyze, ["scaling", *arguments, "--threads", "1", "--out", str(tmp_path)], catch_exceptions=False
    )
    (record,) = read_scaling(tmp_path)
    assert result.exit_code == 0
    assert [point.n_times for point in record.curves[0].points] == [512, 1024, 2048]
    assert all(point.seconds for point in record.curves[0].points)
    assert (tmp_path / "report" / "figures" / "scaling-adftd-cpu.svg").exists()


def test_help_lists_the_analyses_without_importing_them() -> None:
    code = (
        "import sys; from bench.cli.analyze import command; command.main(['--help'], standalone_mode=False); "
        "sys.exit('torch' in sys.modules or 'bench.cli.scaling' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert all(name in done.stdout for name in ANALYSES)


def test_options_of_efficiency_need_no_torch() -> None:
    code = (
        "import sys; from bench.cli.efficiency import command; command.main(['--help'], standalone_mode=False); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
