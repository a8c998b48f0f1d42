from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matplotlib.figure
import pytest

from bench.analyses import store
from bench.analyses.runner import shown
from bench.analyses.scaling import compute as scaling
from bench.analyses.scaling.compute import ScalingPlan, measure_scaling
from bench.analyses.scaling.record import (
    ANALYSIS,
    ScalingCurve,
    ScalingPoint,
    ScalingRecord,
    fit_exponent,
    scaling_key,
)
from bench.analyses.scaling.report import draw, line_look, scaling_figure, scaling_table
from bench.measure import keeping
from bench.measure.child import Loaded
from bench.measure.probe import Probe
from bench.measure.process import DoesNotFitError, TookTooLongError
from bench.measure.workload import Subject, Workload
from bench.render import style
from bench.results.record import Environment
from tests.measure.subjects import make_subject

ENVIRONMENT = Environment(
    device="cpu", device_name="test", threads=1, precision="float32", deterministic=True, scan_backend=None,
    platform="test", versions={"torch": "2"},
)  # fmt: skip
KEY = "0" * 64
LENGTHS = (128, 256, 512, 1024, 2048, 4096)
BROKEN: dict[str, Callable[[], Exception]] = {
    "stopped at 1024 steps: not done within the limit of 60 s": lambda: TookTooLongError("late"),
    "stopped at 1024 steps: batch 4 does not fit in memory": lambda: DoesNotFitError("killed"),
}


def make_curve(model: str, cost: Callable[[int], float]) -> ScalingCurve:
    points = [
        ScalingPoint(
            n_times=n, operations=round(1e6 * cost(n)), seconds=(cost(n),), memory_bytes=round(1e3 * cost(n))
        )
        for n in LENGTHS
    ]
    return ScalingCurve(model=model, revision=1, hyperparameters={}, points=tuple(points))


def make_plan(lengths: tuple[int, ...] = (32, 64)) -> ScalingPlan:
    return ScalingPlan(
        subjects={"transformer": make_subject()},
        dataset="adftd",
        lengths=lengths,
        batch=4,
        limit_s=60.0,
        environment=ENVIRONMENT,
    )


def make_record(*curves: ScalingCurve) -> ScalingRecord:
    return ScalingRecord(
        schema=1, key=KEY, session="2026-01-01", dataset="adftd", n_channels=19, batch=4, limit_s=60.0,
        environment=ENVIRONMENT, curves=curves,
    )  # fmt: skip


def quietly(_line: str) -> None:
    pass


def measured(plan: ScalingPlan) -> ScalingRecord:
    found: list[ScalingRecord] = []
    measure_scaling(plan, quietly, found.append)
    (record,) = found
    return record


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_exponent_of_a_power_law_is_exact(exponent: float) -> None:
    found = fit_exponent(make_curve("medmamba", lambda n: n**exponent), "seconds")
    assert found is not None
    assert (found.value, found.error, found.n_points) == pytest.approx((exponent, 0.0, 4), abs=1e-9)


def test_curvature_shows_in_the_error() -> None:
    """Linear and quadratic parts in one: the exponent is between, and known less well."""
    found = fit_exponent(make_curve("transformer", lambda n: 1000 * n + n**2), "seconds")
    assert found is not None
    assert 1.2 < found.value < 1.9
    assert found.error > 0.03


def test_error_is_that_of_the_textbook() -> None:
    """Four points at 0, 1, 2, 3 octaves whose logarithms are off a line of slope 1 by 1, -1, -1, 1 (base 2)."""
    off: dict[int, float] = {512: 2.0, 1024: 0.5, 2048: 0.5, 4096: 2.0}
    found = fit_exponent(make_curve("m", lambda n: n * off.get(n, 1.0)), "seconds")
    assert found is not None
    assert (found.value, found.error) == pytest.approx((1.0, (4 / 2 / 5) ** 0.5))


def test_two_points_have_no_exponent() -> None:
    curve = make_curve("m", float)
    short = curve.model_copy(update={"points": curve.points[:4]})
    assert fit_exponent(short, "seconds") is None


def test_lengths_are_measured_in_fresh_processes() -> None:
    (curve,) = measured(make_plan()).curves
    assert [one.n_times for one in curve.points] == [32, 64]
    assert all(one.operations and one.seconds and one.memory_bytes for one in curve.points)


@pytest.mark.parametrize("said", BROKEN)
def test_model_stops_at_its_limit_and_says_so(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def probe(subject: Subject, workload: Workload, *, limit_s: float, at_least_s: float = 0.0) -> Probe:
        asked.append(subject.n_times)
        if subject.n_times >= 1024:
            raise BROKEN[said]()
        return Probe(workload, Loaded(0.1, 1), (at_least_s, limit_s), 10)

    monkeypatch.setattr(scaling, "probe", probe)
    (curve,) = measured(make_plan(LENGTHS)).curves
    assert asked == [128, 128, 256, 256, 512, 512, 1024]
    assert [bool(one.seconds) for one in curve.points] == [True] * 3 + [False] * 3
    assert {one.message for one in curve.points[3:]} == {said}
    assert all(one.operations for one in curve.points)


def test_time_is_of_processes_that_keep_memory_and_memory_of_those_that_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def probe(subject: Subject, workload: Workload, **_: object) -> Probe:
        return Probe(workload, Loaded(0.1, 0), (1.0 if subject.keeps_memory else 9.0,), 10)

    monkeypatch.setattr(scaling, "probe", probe)
    (curve,) = measured(make_plan()).curves
    assert [(one.seconds, one.memory_bytes, one.message) for one in curve.points] == [((1.0,), 10, "")] * 2


def test_too_little_memory_to_keep_is_told_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "probe", at_once)
    monkeypatch.setattr(keeping, "available_bytes", lambda: -1)
    record = measured(make_plan())
    assert [one.seconds for one in record.curves[0].points] == [(0.5,)] * 2
    (footnote,) = scaling_table(record, "name").footnotes
    assert footnote == f"transformer: at 32 steps {keeping.SHORT_OF_MEMORY}"


def never(*_: object, **__: object) -> Probe:
    raise KeyboardInterrupt


def at_once(_subject: Subject, workload: Workload, **_: object) -> Probe:
    return Probe(workload, Loaded(0.1, 1), (0.5,), 10)


def test_length_that_a_model_refuses_does_not_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """MedMamba's largest stride is 25 steps."""
    monkeypatch.setattr(scaling, "probe", at_once)
    plan = replace(
        make_plan((16, 64)), subjects={"medmamba": replace(make_subject("medmamba"), hyperparameters={})}
    )
    refused, run = measured(plan).curves[0].points
    assert refused.message.startswith("not at 16 steps: strides must be between 1 and n_times=16")
    assert (refused.seconds, run.seconds) == ((), (0.5,))


def test_interrupted_analysis_keeps_the_models_that_were_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(subject: Subject, workload: Workload, **options: object) -> Probe:
        return (at_once if subject.model == "transformer" else never)(subject, workload, **options)

    monkeypatch.setattr(scaling, "probe", probe)
    subjects = {name: make_subject(name) for name in ("transformer", "itransformer")}
    found: list[ScalingRecord] = []
    with pytest.raises(KeyboardInterrupt):
        measure_scaling(replace(make_plan(), subjects=subjects), quietly, found.append)
    assert [curve.model for curve in found[0].curves] == ["transformer"]


def test_key_changes_with_models_lengths_batch_and_environment() -> None:
    curve = make_curve("medmamba", float)
    shorter = curve.model_copy(update={"points": curve.points[:3]})
    elsewhere = ENVIRONMENT.model_copy(update={"threads": 8})
    variants = [
        ([curve], 4, ENVIRONMENT),
        ([shorter], 4, ENVIRONMENT),
        ([curve, make_curve("transformer", float)], 4, ENVIRONMENT),
        ([curve], 8, ENVIRONMENT),
        ([curve], 4, elsewhere),
    ]
    keys = {
        scaling_key(curves=curves, dataset="adftd", batch=batch, environment=place)
        for curves, batch, place in variants
    }
    assert len(keys) == len(variants)


def test_smaller_run_leaves_the_larger_one_and_both_are_shown(tmp_path: Path) -> None:
    larger = make_record(make_curve("medmamba", float), make_curve("transformer", float))
    smaller = make_record(make_curve("medmamba", float)).model_copy(update={"key": "1" * 64})
    for record in (larger, smaller):
        store.write(tmp_path, ANALYSIS, record)
    assert {record.key for record in store.read(tmp_path, ANALYSIS)[0]} == {larger.key, smaller.key}
    found = shown(ANALYSIS, tmp_path, print)
    tables, figures = found.tables, found.figures
    assert {one.name for one in tables} == {one.name for one in figures}
    assert sorted(one.name for one in tables) == ["scaling-adftd-cpu-1", "scaling-adftd-cpu-2"]


def test_newer_schema_is_not_guessed_at(tmp_path: Path) -> None:
    path = store.write(tmp_path, ANALYSIS, make_record(make_curve("medmamba", float)))
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'), encoding="utf-8")
    _, (error,) = store.read(tmp_path, ANALYSIS)
    assert "schema 2 is newer than this version's 1; upgrade" in str(error)


def test_table_shows_exponents_and_where_a_model_stopped() -> None:
    curve = make_curve("transformer", lambda n: float(n**2))
    stopped = curve.points[-1].model_copy(update={"seconds": (), "message": "stopped at 4096 steps: late"})
    record = make_record(curve.model_copy(update={"points": (*curve.points[:-1], stopped)}))
    table = scaling_table(record, "name")
    ((row,),) = [block.rows for block in table.blocks]
    assert row.cells[0].mean == pytest.approx(2.0)
    assert row.cells[-1].text == "2048"
    assert table.footnotes[0] == "transformer: stopped at 4096 steps: late"


def test_table_says_batch_device_and_range_of_the_fit() -> None:
    caption = scaling_table(make_record(make_curve("medmamba", float)), "name").caption
    for said in ("lengths from 512", "batch 4", "test (cpu), 1 thread, float32", "at most 60 s a model"):
        assert said in caption


def test_figure_draws_every_model_in_every_panel() -> None:
    record = make_record(make_curve("medmamba", float), make_curve("transformer", lambda n: float(n**2)))
    with style.figure_style():
        figure = draw(record.curves, record.batch)
    assert isinstance(figure, matplotlib.figure.Figure)
    assert [len(axes.lines) for axes in figure.axes] == [2, 2, 2]
    assert "exponent 1.00" in scaling_figure(record, "name").alt


def test_axes_are_labelled_with_plain_numbers(tmp_path: Path) -> None:
    figure = scaling_figure(make_record(make_curve("transformer", lambda n: float(n**2))), "name")
    figure.write(tmp_path)
    text = (tmp_path / "name.svg").read_text(encoding="utf-8")
    assert "mathdefault" not in text
    assert ">1000</text>" in text


def test_lines_differ_in_more_than_colour() -> None:
    looks = [line_look(number, f"model {number}") for number in range(12)]
    assert len({(look["marker"], look["linestyle"]) for look in looks}) == 12
