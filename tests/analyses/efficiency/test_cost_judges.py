"""Verdicts on claims of parameters, speed and scaling, from records made up for it."""

from pathlib import Path

import pytest

from bench.analyses.efficiency.judge import EfficiencyJudge
from bench.analyses.efficiency.panels import panels
from bench.analyses.efficiency.parameters_judge import ParametersJudge
from bench.analyses.scaling.judge import ScalingJudge
from bench.paper.scale import Verdict
from bench.results.efficiency_record import EfficiencyRecord
from bench.studies.aggregate import compare
from bench.studies.suite import Suite, make_suites
from tests.analyses.efficiency.efficiency_records import MODELS, make_condition, make_record, make_session
from tests.analyses.scaling.scaling_records import scaling_record
from tests.report.grids import PAPER_MODELS, Grid, write_grid
from tests.report.ledger import claim


def on_device(records: list[EfficiencyRecord], name: str, **changes: str) -> list[EfficiencyRecord]:
    """Say that the records are of another device."""
    return [
        one.model_copy(
            update={"environment": one.environment.model_copy(update={"device_name": name}), **changes}
        )
        for one in records
    ]


class TestParameters:
    @pytest.mark.parametrize(
        ("medformer", "verdict"),
        [(30_010_000, Verdict.SUPPORTED), (8_123_139, Verdict.CONTRADICTED)],
    )
    def test_counts_are_those_of_the_models_whose_scores_are_printed(
        self, medformer: int, verdict: Verdict
    ) -> None:
        sizes = {"medmamba": 5_671_000, "medformer": medformer}
        records = [make_record(name, (), n_parameters=n) for name, n in sizes.items()]
        ruling = ParametersJudge(panels(records))(claim("parameters"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_wide_models_are_told_and_decide_nothing(self) -> None:
        wide = [record.model_copy(update={"width": "wide"}) for record in make_session()]
        assert ParametersJudge(panels(wide))(claim("parameters")) is None
        ruling = ParametersJudge(panels([*make_session(), *wide]))(claim("parameters"))
        assert ruling is not None
        assert ruling.evidence.startswith(
            "width script: medmamba 5.72 million, medformer 8.12 million, 1.42 times"
        )
        assert "; width wide: medmamba" in ruling.evidence
        assert ruling.evidence.endswith("scores are of width script")

    def test_small_models_of_a_preset_say_nothing(self) -> None:
        records = [one.model_copy(update={"preset": "demo"}) for one in make_session()]
        assert ParametersJudge(panels(records))(claim("parameters")) is None


THERE = "NVIDIA GeForce RTX 3090"


def with_rounds(records: list[EfficiencyRecord], n_rounds: int, **rates: float) -> list[EfficiencyRecord]:
    """Return the records timed in so many rounds; `rates` replaces the windows per second of models."""
    return [
        record.model_copy(
            update={
                "conditions": (
                    make_condition(rates.get(record.model, MODELS[record.model][0]), n_rounds=n_rounds),
                )
            }
        )
        for record in records
    ]


def scored(tmp_path: Path, ours: float, others: float) -> Suite:
    """Return a suite on ADFTD in which every seed of a model has the same macro F1."""
    grid = Grid(models=PAPER_MODELS, datasets=("adftd",), seeds=(41, 42, 43, 44, 45), n_epochs=1)
    records = []
    for record in write_grid(tmp_path, grid):
        assert record.metrics is not None
        f1 = ours if record.cell.model == "medmamba" else others
        test = record.metrics.test.model_copy(update={"f1": f1})
        records.append(
            record.model_copy(update={"metrics": record.metrics.model_copy(update={"test": test})})
        )
    return make_suites(compare(records))[0]


class TestEfficiency:
    @pytest.mark.parametrize(
        ("name", "rates", "verdict"),
        [
            ("speedup-medformer", {}, Verdict.SUPPORTED),
            ("speedup-medformer", {"medformer": 600.0}, Verdict.CONTRADICTED),
            ("speedups", {}, Verdict.SUPPORTED),
            # iTransformer's made-up speed is the highest.
            ("highest-throughput", {}, Verdict.CONTRADICTED),
            ("highest-throughput", {"itransformer": 1000.0}, Verdict.SUPPORTED),
            ("highest-throughput", {"itransformer": 3200.0}, Verdict.UNDECIDED),
        ],
    )
    def test_the_papers_device_decides(self, name: str, rates: dict[str, float], verdict: Verdict) -> None:
        found = panels(with_rounds(on_device(make_session(), THERE), 12, **rates))
        ruling = EfficiencyJudge(found, None)(claim(name))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_too_few_rounds_for_an_interval_decide_nothing(self) -> None:
        found = panels(with_rounds(on_device(make_session(), THERE), 5))
        ruling = EfficiencyJudge(found, None)(claim("highest-throughput"))
        assert ruling is not None
        assert ruling.verdict is Verdict.UNDECIDED

    def test_another_device_decides_nothing_and_its_numbers_are_told(self) -> None:
        ruling = EfficiencyJudge(panels(make_session()), None)(claim("speedup-medformer"))
        assert ruling is not None
        assert ruling.verdict is Verdict.UNDECIDED
        assert "times medformer's (width script, batch 256, made-up cpu)" in ruling.evidence

    def test_the_kinder_panel_is_not_picked(self) -> None:
        kind = on_device(make_session(), THERE)
        unkind = with_rounds(
            [record.model_copy(update={"width": "wide"}) for record in kind], 12, medformer=100.0
        )
        for sessions in ([*kind, *unkind], [*unkind]):
            ruling = EfficiencyJudge(panels(sessions), None)(claim("speedup-medformer"))
            assert (ruling and ruling.verdict) == (Verdict.SUPPORTED if sessions[0] in kind else None)

    def test_a_batch_that_did_not_fit_decides_nothing(self) -> None:
        smaller = make_record("medformer", (make_condition(700, batch=64, asked=256),))
        session = [smaller if record.model == "medformer" else record for record in make_session()]
        ruling = EfficiencyJudge(panels(on_device(session, THERE)), None)(claim("speedup-medformer"))
        assert ruling is not None
        assert ruling.verdict is Verdict.UNDECIDED

    def test_absolute_numbers_of_the_papers_device_decide_and_of_others_do_not(self) -> None:
        for factor, verdict in ((1.0, Verdict.SUPPORTED), (1.3, Verdict.CONTRADICTED)):
            rates = {name: factor * rate for name, (rate, _) in MODELS.items()}
            there = panels(with_rounds(on_device(make_session(), THERE), 12, **rates))
            ruling = EfficiencyJudge(there, None)(claim("throughputs"))
            assert ruling is not None
            assert ruling.verdict is verdict
        assert EfficiencyJudge(panels(make_session()), None)(claim("throughputs")) is None

    @pytest.mark.parametrize(
        ("ours", "verdict"), [(0.6, Verdict.SUPPORTED), (0.5, Verdict.UNDECIDED), (0.4, Verdict.CONTRADICTED)]
    )
    def test_a_trade_off_is_lost_to_a_model_that_is_surely_faster_and_surely_better(
        self, tmp_path: Path, ours: float, verdict: Verdict
    ) -> None:
        found = panels(with_rounds(on_device(make_session(), THERE), 12))
        ruling = EfficiencyJudge(found, scored(tmp_path, ours, 0.5))(claim("best-trade-off"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_budgets_without_a_rival_at_the_width_of_the_scores_cannot_be_compared(self) -> None:
        found = panels(on_device(make_session(), THERE))
        ruling = EfficiencyJudge(found, None)(claim("comparable-budgets"))
        assert ruling is not None
        assert ruling.verdict is Verdict.NOT_CHECKABLE
        assert ruling.evidence.startswith("no rival has 4.7 to 5.8 million parameters at this width")

    def test_fastest_is_said_of_all_models_of_the_paper_or_of_none(self) -> None:
        some = [one for one in make_session() if one.model != "mtst"]
        assert EfficiencyJudge(panels(some), None)(claim("highest-throughput")) is None

    def test_a_missing_rival_leaves_the_claim_open(self) -> None:
        some = [one for one in make_session() if one.model != "patchtst"]
        assert EfficiencyJudge(panels(some), None)(claim("speedups")) is None

    def test_without_scores_trade_offs_are_open(self) -> None:
        judge = EfficiencyJudge(panels(make_session()), None)
        assert judge(claim("best-trade-off")) is None


class TestScaling:
    @pytest.mark.parametrize(
        ("exponent", "verdict"),
        [(1.05, Verdict.SUPPORTED), (1.2, Verdict.UNDECIDED), (1.3, Verdict.CONTRADICTED)],
    )
    def test_linear_is_an_exponent_of_one(self, exponent: float, verdict: Verdict) -> None:
        ruling = ScalingJudge([scaling_record({"medmamba": exponent})])(claim("linear-complexity"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_one_linear_transformer_contradicts_that_all_are_quadratic(self) -> None:
        models = claim("transformers-quadratic").about["models"]
        quadratic = dict.fromkeys(models, 2.0)
        for exponents, verdict in (
            (quadratic, Verdict.SUPPORTED),
            ({**quadratic, "autoformer": 1.0}, Verdict.CONTRADICTED),
        ):
            ruling = ScalingJudge([scaling_record(exponents)])(claim("transformers-quadratic"))
            assert ruling is not None
            assert ruling.verdict is verdict

    def test_a_slower_model_of_linear_cost_contradicts_that_speed_comes_from_it(self) -> None:
        slower = dict.fromkeys(
            ("medformer", "transformer", "informer", "crossformer", "fedformer", "patchtst", "autoformer"),
            2.0,
        )
        judge = ScalingJudge([scaling_record({**slower, "autoformer": 1.0})])
        ruling = judge(claim("speedup-from-complexity"))
        assert ruling is not None
        assert ruling.verdict is Verdict.CONTRADICTED
        assert "autoformer 1.00 to 1.00" in ruling.evidence
