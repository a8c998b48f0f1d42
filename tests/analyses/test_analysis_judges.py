"""Verdicts on claims of propositions, centralization, channel mixing and embeddings, from records made up for it."""

from pathlib import Path

import pytest

from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.centralization.judge import CentralizationJudge
from bench.analyses.centralization.record import CentralizationRecord
from bench.analyses.channel_mixing.judge import ChannelMixingJudge
from bench.analyses.channel_mixing.record import (
    BeforeAfter,
    ChannelMixingRecord,
    ClassCorrelation,
    ClassDistance,
    SeedMixing,
)
from bench.analyses.embedding.judge import EmbeddingJudge
from bench.analyses.embedding.record import EmbeddingRecord, SeedEmbedding
from bench.analyses.theory.judge import TheoryJudge
from bench.analyses.theory.record import Check, TheoryRecord
from bench.analyses.theory.record import Verdict as Outcome
from bench.paper import published
from bench.paper.claim_checks import Verdict
from bench.paper.claims import cell_claims, text_claims
from bench.report.judges import make_judges
from tests.analyses.centralization.test_centralization_report import DIC, WINDOW, measured, record
from tests.report.grids import Grid, write_grid
from tests.report.ledger import claim

CREATED = "2026-01-01T00:00:00+00:00"


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> AnalysedCells:
    """MedMamba's cells of the paper's seeds on a whole ADFTD."""
    grid = Grid(models=("medmamba",), datasets=("adftd",), seeds=(41, 42, 43, 44, 45), n_epochs=1)
    return AnalysedCells.of(write_grid(tmp_path_factory.mktemp("cells"), grid))


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
    """Make a record of one reading of each index."""
    measures = [
        measured(choice, mean).model_copy(
            update={"low": None, "high": None}
            if spread is None
            else {"low": mean - spread, "high": mean + spread}
        )
        for choice, mean in ((WINDOW, sci), (DIC, dic))
    ]
    return record(dataset, sci, kind=kind).model_copy(update={"measures": tuple(measures)})


class TestCentralization:
    @pytest.mark.parametrize(
        ("sci", "kind", "verdict"),
        [
            (0.384, "whole", Verdict.WITHIN_BOUNDS),
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
        assert ruling.evidence.endswith(
            "one reading for both indices gives at most 3 of 4 cells (window, raw, as printed), this one too"
        )
        ruling = judge(claim("centralization/ptb/sci"))
        assert ruling is not None
        assert ruling.evidence.endswith("this one needs another reading")

    def test_a_number_is_reproduced_only_with_the_whole_table_by_one_reading(self) -> None:
        printed = published.centralization()
        records = [centralization(row.dataset, row.sci, row.dic) for row in printed]
        ruling = CentralizationJudge(records)(claim("centralization/weather/sci"))
        assert ruling is not None
        assert ruling.verdict is Verdict.REPRODUCED
        records[0] = records[0].model_copy(
            update={
                "measures": tuple(
                    found.model_copy(
                        update={"choice": found.choice.model_copy(update={"scaling": "unscaled"})}
                    )
                    for found in records[0].measures
                )
            }
        )
        ruling = CentralizationJudge(records)(claim("centralization/weather/sci"))
        assert ruling is not None
        assert ruling.verdict is Verdict.WITHIN_BOUNDS

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
