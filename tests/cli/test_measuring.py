import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from bench.analyses import store
from bench.analyses.efficiency import compute
from bench.analyses.efficiency.compute import measure_missing
from bench.analyses.efficiency.record import ANALYSIS
from bench.analyses.registry import find
from bench.analyses.runner import shown
from bench.analyses.scaling.compute import plan_of
from bench.analyses.scaling.record import Options as ScalingOptions
from bench.cli import over_grid as grid
from bench.cli.analyze import command as analyze
from bench.cli.efficiency import command as efficiency
from bench.cli.run import command as run
from bench.errors import UsageError
from bench.measure.exclusive import BusyError, training
from bench.measure.measure_models import key_of
from bench.measure.measurement import (
    measured_names,
    parse_numbers,
    parse_widths,
    parse_workloads,
    place_of,
    subject_of,
    task_of,
)
from bench.measure.plan import Plan
from bench.models import registry
from bench.plan.grid import Request
from bench.results.efficiency_record import EfficiencyRecord
from bench.run.run_grid import Summary
from tests.analyses.efficiency.efficiency_records import make_record

TINY = ["--models", "transformer,itransformer", "--preset", "demo", "--device", "cpu", "--threads", "1"]
OWN = """
from torch import Tensor, nn

class Net(nn.Module):
    def __init__(self, *, n_channels: int, n_times: int, n_classes: int, width: int = 4) -> None:
        super().__init__()
        self.head = nn.Linear(n_times * n_channels, n_classes)

    def features(self, x: Tensor) -> Tensor:
        return x.flatten(1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("results")
    arguments = [*TINY, "--batch", "1,2", "--train-batch", "2", "--time-limit", "0", "--out", str(out)]
    return out, CliRunner().invoke(efficiency, arguments, catch_exceptions=False)


def test_prints_three_tables(measured: tuple[Path, Result]) -> None:
    _, result = measured
    assert result.exit_code == 0
    for title in ("Cost of the models", "Speed of the models", "MedMamba's speed-up"):
        assert title in result.stdout


def test_progress_goes_to_standard_error(measured: tuple[Path, Result]) -> None:
    _, result = measured
    assert "models in turns" in result.stderr
    assert "models in turns" not in result.stdout


def test_writes_a_record_for_every_model(measured: tuple[Path, Result]) -> None:
    records, damaged = store.read(measured[0], ANALYSIS)
    assert ([one.model for one in records], damaged) == (["itransformer", "transformer"], [])


def test_demo_models_are_small_and_said_to_be(measured: tuple[Path, Result]) -> None:
    (record, _), _ = store.read(measured[0], ANALYSIS)
    assert (record.hyperparameters["d_model"], record.preset) == (32, "demo")
    assert "of preset demo" in measured[1].stdout


def test_scaling_refuses_while_cells_train(tmp_path: Path) -> None:
    with training("cpu"), pytest.raises(BusyError, match="wait for them to end"):
        CliRunner().invoke(
            analyze,
            ["scaling", "--models", "itransformer", "--device", "cpu", "--out", str(tmp_path)],
            catch_exceptions=False,
        )


def test_writes_the_report_beside_the_records(measured: tuple[Path, Result]) -> None:
    """Without a figure: models of demo size have no score but that of records, of which there are none."""
    out, _ = measured
    assert (out / "report" / "tables" / "efficiency-speed.md").exists()
    assert not (out / "report" / "figures").exists()


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


@pytest.mark.parametrize("text", ["none", "²", "0", "1.5", ""])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected positive numbers"):
        parse_numbers("--lengths", text)


def test_no_training_is_measured_on_request() -> None:
    assert [one.mode for one in parse_workloads("1,8", "none")] == ["inference"] * 2


@pytest.mark.parametrize("dataset", ["adftd,apava", "all"])
def test_scaling_is_of_one_dataset(dataset: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--datasets .*: expected one dataset, got adftd, apava"):
        plan_of(ScalingOptions(datasets=dataset, device="cpu"), tmp_path)


def test_dataset_without_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="dataset 'weather' has no classes"):
        CliRunner().invoke(
            efficiency, [*TINY, "--datasets", "weather", "--out", str(tmp_path)], catch_exceptions=False
        )


def test_memory_is_not_bounded_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.measure.measurement.resolve_device", lambda _: "cuda")
    with pytest.raises(UsageError, match="--memory 2: bounds processes on a CPU only"):
        place_of("cuda", None, 2.0)


def test_own_model_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN, encoding="utf-8")
    arguments = ["--models", f"{file}:Net", "--batch", "2", "--train-batch", "2", "--time-limit", "0"]
    result = CliRunner().invoke(
        efficiency,
        [*arguments, "--device", "cpu", "--threads", "1", "--out", str(tmp_path / "out")],
        catch_exceptions=False,
    )
    assert result.exit_code == 0
    (record,), _ = store.read(tmp_path / "out", ANALYSIS)
    assert record.model == "mine.Net"
    assert all(one.rounds for one in record.conditions)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Collect the plans that would be measured."""
    found: list[Plan] = []
    monkeypatch.setattr(compute, "measure_all", lambda plans, *_: found.extend(plans))
    return found


def ask_for_missing(out: Path, *names: str, threads: int | None = 1) -> None:
    place = place_of("cpu", threads, None)
    measure_missing(out, names, "adftd", "demo", place=place, say=lambda line: print(line, file=sys.stderr))


def test_run_measures_what_is_missing_together_with_medmamba(tmp_path: Path, planned: list[Plan]) -> None:
    ask_for_missing(tmp_path, "transformer")
    (plan,) = planned
    assert list(plan.subjects) == ["transformer", "medmamba"]


def test_run_measures_on_its_own_device_and_threads(tmp_path: Path, planned: list[Plan]) -> None:
    ask_for_missing(tmp_path, "transformer", threads=3)
    (plan,) = planned
    assert (plan.environment.device, plan.environment.threads) == ("cpu", 3)
    assert {one.threads for one in plan.subjects.values()} == {3}


def record_of(plan: Plan, model: str) -> EfficiencyRecord:
    """Return the record that a plan gives, without timings."""
    return make_record(model, ()).model_copy(update={"key": key_of(plan, model, plan.workloads)})


def test_run_measures_nothing_twice(
    tmp_path: Path, planned: list[Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    ask_for_missing(tmp_path, "transformer")
    store.write(tmp_path, ANALYSIS, record_of(planned.pop(), "transformer"))
    ask_for_missing(tmp_path, "transformer")
    assert planned == []
    assert "measured already" in capsys.readouterr().err


def test_run_measures_again_what_another_machine_has_measured(tmp_path: Path, planned: list[Plan]) -> None:
    ask_for_missing(tmp_path, "transformer", threads=3)
    store.write(tmp_path, ANALYSIS, record_of(planned.pop(), "transformer"))
    ask_for_missing(tmp_path, "transformer", threads=1)
    assert len(planned) == 1


def test_run_goes_on_without_a_measurement_on_a_busy_device(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with training("cpu"):
        ask_for_missing(tmp_path, "transformer")
    assert "efficiency not measured: cells are being trained" in capsys.readouterr().err


def test_both_widths_can_be_asked_for() -> None:
    assert parse_widths("script,wide") == ["script", "wide"]


@pytest.mark.parametrize("model", [name for name in measured_names("all") if name != "medmamba"])
def test_every_rival_has_wide_settings(model: str) -> None:
    task = task_of("adftd")
    place = place_of("cpu", 1, None)
    script, wide = (subject_of(model, task, width, "paper", place) for width in parse_widths("script,wide"))
    assert wide.hyperparameters["d_model"] > script.hyperparameters["d_model"]


def test_scaling_is_measured_and_reported(tmp_path: Path) -> None:
    arguments = ["--models", "itransformer", "--lengths", "512,1024,2048", "--batch", "1", "--device", "cpu"]
    result = CliRunner().invoke(
        analyze, ["scaling", *arguments, "--threads", "1", "--out", str(tmp_path)], catch_exceptions=False
    )
    (record,), _ = store.read(tmp_path, find("scaling"))
    assert result.exit_code == 0
    assert [point.n_times for point in record.curves[0].points] == [512, 1024, 2048]
    assert all(point.seconds for point in record.curves[0].points)
    assert (tmp_path / "report" / "figures" / "scaling-adftd-cpu.svg").exists()


class Asked(NamedTuple):
    """What ``bench run`` has measured after its cells."""

    models: tuple[str, ...]
    device: str
    threads: int | None


@pytest.fixture
def after_the_cells(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[list[Asked], bool]]:
    """Return a function that runs ``bench run`` with cells that end at once: what is measured, whether it reports."""

    def run_with(*arguments: str, outcomes: dict[str, int]) -> tuple[list[Asked], bool]:
        asked: list[Asked] = []
        rendered: list[Path] = []

        def measure(request: Request, _out: Path, *, device: str, threads: int | None) -> None:
            asked.append(Asked(tuple(request.models), device, threads))

        monkeypatch.setattr(grid, "measure", measure)
        monkeypatch.setattr(grid, "ready_data", lambda *_: tmp_path)
        monkeypatch.setattr(grid, "run_cells", lambda *_: Summary(outcomes))
        monkeypatch.setattr("bench.cli.run.render_and_print", lambda out, *_: rendered.append(out))
        CliRunner().invoke(
            run, ["--out", str(tmp_path), "--datasets", "adftd", *arguments], catch_exceptions=False
        )
        return asked, bool(rendered)

    return run_with


def test_run_of_all_models_measures_them_where_it_ran(after_the_cells: Callable[..., Any]) -> None:
    asked, rendered = after_the_cells(
        "--models", "all,medmamba", "--device", "cpu", "--threads", "2", outcomes={"ok": 1}
    )
    ((names, device, threads),) = asked
    assert set(registry.names(all_only=True)) <= set(names)
    assert (device, threads, rendered) == ("cpu", 2, True)


def test_run_measures_on_all_cores_unless_told(after_the_cells: Callable[..., Any]) -> None:
    asked, _ = after_the_cells("--models", "transformer", "--efficiency", outcomes={"ok": 1})
    assert asked == [Asked(("transformer",), "auto", None)]


def test_run_of_some_models_measures_nothing_unasked(after_the_cells: Callable[..., Any]) -> None:
    assert after_the_cells("--models", "transformer", outcomes={"ok": 1}) == ([], True)


def test_run_that_stopped_at_a_failure_measures_nothing(after_the_cells: Callable[..., Any]) -> None:
    arguments = ("--models", "transformer", "--efficiency", "--fail-fast")
    assert after_the_cells(*arguments, outcomes={"ok": 1, "failed": 1}) == ([], True)


@pytest.mark.slow
def test_every_model_fills_every_column(tmp_path: Path) -> None:
    arguments = [
        "--preset",
        "demo",
        "--device",
        "cpu",
        "--batch",
        "1,4",
        "--train-batch",
        "4",
        "--time-limit",
        "1",
    ]
    CliRunner().invoke(efficiency, [*arguments, "--out", str(tmp_path)], catch_exceptions=False)
    for table in shown(ANALYSIS, tmp_path, print).tables[:3]:
        assert {row.label for row in table.rows} == set(measured_names("all"))
        assert [row.label for row in table.rows if any(cell.is_empty for cell in row.cells)] == []
