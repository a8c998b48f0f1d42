"""Verdicts on claims of parameters, speed, scaling, propositions and analyses, from records made up for it."""

from pathlib import Path

import pytest

from bench.reports.efficiency_panels import panels
from bench.reports.judges import make_judges
from bench.reports.judges.centralization import CentralizationJudge
from bench.reports.judges.channel_mixing import ChannelMixingJudge
from bench.reports.judges.efficiency import EfficiencyJudge
from bench.reports.judges.embedding import EmbeddingJudge
from bench.reports.judges.parameters import ParametersJudge
from bench.reports.judges.scaling import ScalingJudge
from bench.reports.judges.theory import TheoryJudge
from bench.results.analysed import AnalysedCells
from bench.results.centralization import CentralizationRecord, Choice, Measure
from bench.results.channel_mixing import (
    BeforeAfter,
    ChannelMixingRecord,
    ClassCorrelation,
    ClassDistance,
    SeedMixing,
)
from bench.results.claim_checks import Verdict
from bench.results.claims import Claim, cell_claims, text_claims
from bench.results.efficiency import EfficiencyRecord
from bench.results.embedding import EmbeddingRecord, SeedEmbedding
from bench.results.scaling import ScalingCurve, ScalingPoint, ScalingRecord
from bench.results.theory import Check, TheoryRecord
from bench.results.theory import Verdict as Outcome
from tests.reports.efficiency_records import make_condition, make_record, make_session
from tests.reports.grids import Grid, write_grid

CREATED = "2026-01-01T00:00:00+00:00"


def claim(name: str) -> Claim:
    return next(one for one in (*text_claims(), *cell_claims()) if one.id == name)


def on_device(records: list[EfficiencyRecord], name: str, **changes: str) -> list[EfficiencyRecord]:
    """Say that the records are of another device."""
    return [
        one.model_copy(
            update={"environment": one.environment.model_copy(update={"device_name": name}), **changes}
        )
        for one in records
    ]


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> AnalysedCells:
    """MedMamba's cells of the paper's seeds on a whole ADFTD."""
    grid = Grid(models=("medmamba",), datasets=("adftd",), seeds=(41, 42, 43, 44, 45), n_epochs=1)
    return AnalysedCells.of(write_grid(tmp_path_factory.mktemp("cells"), grid))


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


def scaling_record(exponents: dict[str, float]) -> ScalingRecord:
    lengths = (256, 512, 1024, 2048, 4096)
    curves = tuple(
        ScalingCurve(
            model=model,
            revision=1,
            hyperparameters={},
            points=tuple(ScalingPoint(n_times=n, operations=round(1000 * n**exponent)) for n in lengths),
        )
        for model, exponent in exponents.items()
    )
    environment = make_record("medmamba", ()).environment
    return ScalingRecord(
        schema=1,
        key="0" * 64,
        session=CREATED,
        dataset="adftd",
        n_channels=19,
        batch=4,
        limit_s=60.0,
        environment=environment,
        curves=curves,
    )


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


def theory_check(number: str, outcome: Outcome, void: str = "") -> Check:
    return Check(
        number=number, about="x", claim="c", checked="k", on="o", result="0.5", verdict=outcome, void=void
    )


class TestTheory:
    @pytest.mark.parametrize(
        ("outcomes", "verdict"),
        [
            (("holds", "holds"), Verdict.REPRODUCED),
            (("holds", "does not hold here"), Verdict.CONTRADICTED),
        ],
    )
    def test_every_check_has_to_hold(self, outcomes: tuple[Outcome, Outcome], verdict: Verdict) -> None:
        checks = (theory_check("2a", outcomes[0]), theory_check("2b", outcomes[1]))
        ruling = TheoryJudge([TheoryRecord(schema=1, created=CREATED, seed=41, checks=checks)])(
            claim("optimal-mixing")
        )
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_a_check_on_simulated_data_decides_nothing(self) -> None:
        checks = (theory_check("1b", "holds", void="simulated data"),)
        ruling = TheoryJudge([TheoryRecord(schema=1, created=CREATED, seed=41, checks=checks)])(
            claim("noise-suppression")
        )
        assert ruling is not None
        assert ruling.verdict is Verdict.NEEDS_RECORDS
        assert ruling.evidence.endswith("which decides nothing: simulated data")

    def test_the_premise_has_a_claim_of_its_own(self) -> None:
        checks = (theory_check("1a", "does not hold here"), theory_check("1b", "holds"))
        judge = TheoryJudge([TheoryRecord(schema=1, created=CREATED, seed=41, checks=checks)])
        rulings = [judge(claim(name)) for name in ("mixer-suppresses-noise", "noise-suppression")]
        assert [one.verdict for one in rulings if one] == [Verdict.CONTRADICTED, Verdict.REPRODUCED]

    def test_simulated_datasets_do_not_silence_a_real_one(self) -> None:
        checks = (
            theory_check("1a", "does not hold here", void="simulated data"),
            theory_check("1a", "holds"),
        )
        ruling = TheoryJudge([TheoryRecord(schema=1, created=CREATED, seed=41, checks=checks)])(
            claim("mixer-suppresses-noise")
        )
        assert ruling is not None
        assert ruling.verdict is Verdict.REPRODUCED

    def test_what_was_not_checked_is_open(self) -> None:
        checks = (theory_check("1b", "not checked"),)
        judge = TheoryJudge([TheoryRecord(schema=1, created=CREATED, seed=41, checks=checks)])
        assert judge(claim("noise-suppression")) is None


def centralization(
    dataset: str, sci: float, dic: float, kind: str = "whole", spread: float | None = None
) -> CentralizationRecord:
    measures = [
        Measure(
            choice=Choice.model_validate(
                {"index": index, "unit": "window", "scaling": "raw", "reading": "as printed"}
            ),
            mean=mean,
            std=None,
            low=None if spread is None else mean - spread,
            high=None if spread is None else mean + spread,
            n_units=9,
            n_undefined=0,
        )
        for index, mean in (("sci", sci), ("dic", dic))
    ]
    return CentralizationRecord.model_validate(
        {
            "created": CREATED,
            "dataset": dataset,
            "title": dataset,
            "kind": kind,
            "version": "1",
            "fingerprint": "f",
            "n_channels": 4,
            "n_times": 96,
            "n_windows": 9,
            "n_recordings": 3,
            "blocks": "subjects",
            "n_blocks": 20,
            "level": 0.95,
            "n_resamples": 10,
            "seed": 41,
            "measures": [one.model_dump() for one in measures],
        }
    )


class TestCentralization:
    @pytest.mark.parametrize(
        ("sci", "kind", "verdict"),
        [
            (0.384, "whole", Verdict.REPRODUCED),
            (0.42, "whole", Verdict.WITHIN_BOUNDS),
            (0.5, "whole", Verdict.CONTRADICTED),
            (0.38, "excerpt", Verdict.NEEDS_RECORDS),
        ],
    )
    def test_the_nearest_reading_decides_on_whole_data(self, sci: float, kind: str, verdict: Verdict) -> None:
        judge = CentralizationJudge([centralization("weather", sci, 0.34, kind)])
        ruling = judge(claim("centralization/weather/sci"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_medical_signals_have_to_be_above_in_both_indices(self) -> None:
        medical = [centralization(name, 0.6, 0.6) for name in ("adftd", "apava", "ptb", "ptb-xl")]
        for weather, verdict in (
            (centralization("weather", 0.4, 0.3), Verdict.REPRODUCED),
            (centralization("weather", 0.7, 0.3), Verdict.CONTRADICTED),
        ):
            ruling = CentralizationJudge([*medical, weather])(claim("medical-more-centralized"))
            assert ruling is not None
            assert ruling.verdict is verdict

    @pytest.mark.parametrize(
        ("spread", "verdict"), [(0.05, Verdict.REPRODUCED), (0.2, Verdict.CONTRADICTED), (None, None)]
    )
    def test_significantly_above_is_by_intervals(self, spread: float | None, verdict: Verdict | None) -> None:
        medical = [
            centralization(name, 0.6, 0.6, spread=spread) for name in ("adftd", "apava", "ptb", "ptb-xl")
        ]
        judge = CentralizationJudge([*medical, centralization("weather", 0.4, 0.3, spread=spread)])
        ruling = judge(claim("medical-significantly-more-centralized"))
        assert (ruling and ruling.verdict) == verdict

    def test_how_many_cells_one_reading_gives_is_told(self) -> None:
        judge = CentralizationJudge([centralization("weather", 0.38, 0.34), centralization("ptb", 0.5, 0.83)])
        ruling = judge(claim("centralization/weather/sci"))
        assert ruling is not None
        assert ruling.evidence.endswith("one reading for all gives at most 1 of 2 cells")

    def test_a_dataset_that_is_missing_leaves_it_open(self) -> None:
        records = [centralization("adftd", 0.6, 0.6), centralization("weather", 0.4, 0.3)]
        ruling = CentralizationJudge(records)(claim("medical-more-centralized"))
        assert ruling is not None
        assert ruling.verdict is Verdict.NEEDS_RECORDS
        assert "ptb-xl was not analysed" in ruling.evidence


NAMES = ("control", "frontotemporal dementia", "Alzheimer's disease")


def mixing(cells: AnalysedCells, changes_percent: tuple[float, ...]) -> ChannelMixingRecord:
    """Make a record whose every relative change is the given one of its seed."""

    def seed_mixing(seed: int, change: float) -> SeedMixing:
        pair = BeforeAfter(before=1.0, after=1 + change / 100)
        return SeedMixing(
            seed=seed,
            correlations=tuple(ClassCorrelation(class_name=n, signed=pair, absolute=pair) for n in NAMES),
            distances=tuple(
                ClassDistance(first=one, second=other, norm=pair)
                for one, other in ((NAMES[0], NAMES[1]), (NAMES[0], NAMES[2]), (NAMES[1], NAMES[2]))
            ),
            n_undefined=0,
        )

    seeds = tuple(
        seed_mixing(seed, change) for seed, change in zip(cells.seeds, changes_percent, strict=True)
    )
    return ChannelMixingRecord(
        schema=1,
        created=CREATED,
        cells=cells,
        n_entries=9,
        seeds=seeds,
        untrained=seeds,
        arrays_sha256="0" * 64,
    )


class TestChannelMixing:
    @pytest.mark.parametrize(
        ("changes", "verdict"),
        [
            ((-4.0, -3.0, -3.4, -3.2, -3.8), Verdict.REPRODUCED),
            ((-3.9, -4.0, -4.1, -4.0, -4.2), Verdict.CONTRADICTED),
            # A rise within one deviation of the stated fall.
            ((6.0, -4.0, 8.0, -8.0, 3.0), Verdict.CONTRADICTED),
        ],
    )
    def test_a_change_is_judged_by_our_deviation_over_seeds(
        self, cells: AnalysedCells, changes: tuple[float, ...], verdict: Verdict
    ) -> None:
        ruling = ChannelMixingJudge([mixing(cells, changes)])(claim("mixing-correlation-ad"))
        assert ruling is not None
        assert ruling.verdict is verdict

    @pytest.mark.parametrize(
        ("change", "lower", "higher"),
        [(-3.0, Verdict.REPRODUCED, Verdict.CONTRADICTED), (3.0, Verdict.CONTRADICTED, Verdict.REPRODUCED)],
    )
    def test_signs_are_those_of_every_class_and_pair(
        self, cells: AnalysedCells, change: float, lower: Verdict, higher: Verdict
    ) -> None:
        judge = ChannelMixingJudge([mixing(cells, (change,) * 5)])
        for name, verdict in (
            ("mixing-lowers-all-correlations", lower),
            ("mixing-raises-all-distances", higher),
        ):
            ruling = judge(claim(name))
            assert ruling is not None
            assert ruling.verdict is verdict

    def test_no_record_no_verdict(self) -> None:
        assert ChannelMixingJudge([])(claim("mixing-correlation-ad")) is None
        assert ChannelMixingJudge([])(claim("mixing-largest-ad-cn")) is None


def embedding(cells: AnalysedCells, model: str, silhouette: float, share: float) -> EmbeddingRecord:
    seed = SeedEmbedding(
        seed=41,
        silhouette_class=silhouette,
        silhouette_subject=0.1,
        class_from_others=share,
        class_from_all=0.9,
        subject_from_all=0.8,
    )
    return EmbeddingRecord(
        schema=1,
        created=CREATED,
        cells=cells.model_copy(update={"model": model}),
        n_windows=24,
        n_subjects=12,
        n_features=8,
        largest_class=0.5,
        constant_from_others=0.4,
        largest_subject=0.1,
        n_neighbours=15,
        perplexity=7.5,
        tsne_seed=41,
        n_components=8,
        map_seed=41,
        seeds=(seed,),
        arrays_sha256="0" * 64,
    )


class TestEmbedding:
    @pytest.mark.parametrize(("theirs", "verdict"), [(0.3, Verdict.REPRODUCED), (0.45, Verdict.CONTRADICTED)])
    def test_only_ours_tells_the_class_of_other_people(
        self, cells: AnalysedCells, theirs: float, verdict: Verdict
    ) -> None:
        records = [embedding(cells, "medmamba", 0.1, 0.5), embedding(cells, "medformer", 0.1, theirs)]
        ruling = EmbeddingJudge(records)(claim("embedding-adftd"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_better_is_better_in_both_numbers(self, cells: AnalysedCells) -> None:
        there = cells.model_copy(update={"dataset": "ptb-xl"})
        ours = embedding(there, "medmamba", 0.2, 0.5)
        for theirs, verdict in ((0.1, Verdict.REPRODUCED), (0.3, Verdict.CONTRADICTED)):
            records = [ours, embedding(there, "medformer", theirs, 0.4)]
            ruling = EmbeddingJudge(records)(claim("embedding-ptb-xl"))
            assert ruling is not None
            assert ruling.verdict is verdict

    def test_one_model_alone_is_no_comparison(self, cells: AnalysedCells) -> None:
        assert EmbeddingJudge([embedding(cells, "medmamba", 0.2, 0.5)])(claim("embedding-adftd")) is None


def test_without_records_every_judge_is_silent(tmp_path: Path) -> None:
    judges = make_judges(tmp_path, [])
    asked = [one for one in (*text_claims(), *cell_claims()) if one.needs in judges]
    assert {one.needs for one in asked} == judges.keys()
    assert [one.id for one in asked if judges[one.needs](one) is not None] == []
