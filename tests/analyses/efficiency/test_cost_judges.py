"""Verdicts on claims of parameters, speed and scaling, from records made up for it."""

import pytest

from bench.analyses.efficiency.judge import EfficiencyJudge
from bench.analyses.efficiency.panels import panels
from bench.analyses.efficiency.parameters_judge import ParametersJudge
from bench.analyses.scaling.judge import ScalingJudge
from bench.paper.claim_checks import Verdict
from bench.results.efficiency_record import EfficiencyRecord
from tests.analyses.efficiency.efficiency_records import make_condition, make_record, make_session
from tests.analyses.scaling.scaling_records import scaling_record
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
        ("widths", "verdict"),
        [
            ({"script": 30_000_000}, Verdict.REPRODUCED),
            ({"script": 8_123_139, "wide": 30_010_000}, Verdict.WITHIN_BOUNDS),
            ({"script": 8_123_139, "wide": 29_000_000}, Verdict.CONTRADICTED),
            ({"script": 8_123_139}, Verdict.NEEDS_RECORDS),
        ],
    )
    def test_a_count_is_of_one_of_two_widths(self, widths: dict[str, int], verdict: Verdict) -> None:
        records = [
            make_record("medformer", (), n_parameters=n).model_copy(update={"width": width})
            for width, n in widths.items()
        ]
        ruling = ParametersJudge(panels(records))(claim("medformer-parameters"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_ratio_is_of_one_width(self) -> None:
        ruling = ParametersJudge(panels(make_session()))(claim("parameter-ratio"))
        assert ruling is not None
        assert ruling.evidence.startswith("1.42 times at width script")

    def test_small_models_of_a_preset_say_nothing(self) -> None:
        records = [one.model_copy(update={"preset": "demo"}) for one in make_session()]
        assert ParametersJudge(panels(records))(claim("medmamba-parameters")) is None


class TestEfficiency:
    @pytest.mark.parametrize(
        ("name", "verdict"),
        [
            ("speedup-medformer", Verdict.REPRODUCED),
            ("speedup-attention", Verdict.WITHIN_BOUNDS),
            ("speedup-slow", Verdict.REPRODUCED),
            # iTransformer's made-up speed is the highest.
            ("highest-throughput", Verdict.CONTRADICTED),
        ],
    )
    def test_the_papers_device_decides(self, name: str, verdict: Verdict) -> None:
        found = panels(on_device(make_session(), "NVIDIA GeForce RTX 3090"))
        ruling = EfficiencyJudge(found, None)(claim(name))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_another_device_decides_nothing_and_its_numbers_are_told(self) -> None:
        ruling = EfficiencyJudge(panels(make_session()), None)(claim("highest-throughput"))
        assert ruling is not None
        assert ruling.verdict is Verdict.NEEDS_RECORDS
        assert (
            "itransformer 2.8 times as fast as medmamba (width script, batch 256, made-up cpu)"
            in ruling.evidence
        )

    def test_a_batch_that_did_not_fit_decides_nothing(self) -> None:
        smaller = make_record("medformer", (make_condition(700, batch=64, asked=256),))
        session = [smaller if one.model == "medformer" else one for one in make_session()]
        there = EfficiencyJudge(panels(on_device(session, "NVIDIA GeForce RTX 3090")), None)
        ruling = there(claim("speedup-medformer"))
        assert ruling is not None
        assert ruling.verdict is Verdict.NEEDS_RECORDS

    def test_absolute_numbers_of_the_papers_device_decide_and_of_others_do_not(self) -> None:
        there = EfficiencyJudge(panels(on_device(make_session(factor=1.15), "NVIDIA GeForce RTX 3090")), None)
        ruling = there(claim("medmamba-throughput"))
        assert ruling is not None
        assert ruling.verdict is Verdict.WITHIN_BOUNDS
        assert EfficiencyJudge(panels(make_session()), None)(claim("medmamba-throughput")) is None

    def test_fastest_is_said_of_all_models_of_the_paper_or_of_none(self) -> None:
        some = [one for one in make_session() if one.model != "mtst"]
        assert EfficiencyJudge(panels(some), None)(claim("highest-throughput")) is None

    def test_a_missing_rival_leaves_the_claim_open(self) -> None:
        some = [one for one in make_session() if one.model != "patchtst"]
        assert EfficiencyJudge(panels(some), None)(claim("speedup-slow")) is None

    def test_without_scores_trade_offs_are_open(self) -> None:
        judge = EfficiencyJudge(panels(make_session()), None)
        assert judge(claim("best-trade-off")) is None
        assert judge(claim("comparable-budgets")) is None


class TestScaling:
    @pytest.mark.parametrize(
        ("exponent", "verdict"),
        [(1.05, Verdict.REPRODUCED), (1.2, Verdict.WITHIN_BOUNDS), (1.3, Verdict.CONTRADICTED)],
    )
    def test_linear_is_an_exponent_of_one(self, exponent: float, verdict: Verdict) -> None:
        ruling = ScalingJudge([scaling_record({"medmamba": exponent})])(claim("linear-complexity"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_one_linear_transformer_contradicts_that_all_are_quadratic(self) -> None:
        models = claim("transformers-quadratic").about["models"]
        quadratic = dict.fromkeys(models, 2.0)
        for exponents, verdict in (
            (quadratic, Verdict.REPRODUCED),
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
        assert ruling.evidence.endswith("autoformer 1.00")
