"""Verdicts on claims of propositions, centralization, channel mixing and embeddings, from records made up for it."""

from dataclasses import replace
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
from bench.paper.claims import text_claims
from bench.paper.scale import Verdict
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
            (("holds", "holds"), Verdict.SUPPORTED),
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
        assert ruling.verdict is Verdict.UNDECIDED
        assert ruling.evidence.endswith("; not decisive: simulated data")

    def test_the_premise_has_a_claim_of_its_own(self) -> None:
        checks = (theory_check("1a", "does not hold here"), theory_check("1b", "holds"))
        judge = TheoryJudge([TheoryRecord(schema=1, created=CREATED, seed=41, checks=checks)])
        rulings = [judge(claim(name)) for name in ("mixer-suppresses-noise", "noise-suppression")]
        assert [one.verdict for one in rulings if one] == [Verdict.CONTRADICTED, Verdict.SUPPORTED]

    def test_simulated_datasets_do_not_silence_a_real_one(self) -> None:
        checks = (
            theory_check("1a", "does not hold here", void="simulated data"),
            theory_check("1a", "holds"),
        )
        ruling = TheoryJudge([TheoryRecord(schema=1, created=CREATED, seed=41, checks=checks)])(
            claim("mixer-suppresses-noise")
        )
        assert ruling is not None
        assert ruling.verdict is Verdict.SUPPORTED

    def test_a_network_that_does_not_learn_refutes_no_proposition(self) -> None:
        checks = (theory_check("5a", "holds"), theory_check("5b", "does not hold here"))
        ruling = TheoryJudge([TheoryRecord(schema=1, created=CREATED, seed=41, checks=checks)])(
            claim("bidirectional-necessary")
        )
        assert ruling is not None
        assert ruling.verdict is Verdict.UNDECIDED

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


MEDICAL = ("adftd", "apava", "ptb", "ptb-xl")
TABLE = {row.dataset: (row.sci, row.dic) for row in published.centralization()}


class TestCentralization:
    @pytest.mark.parametrize(
        ("weather", "spread", "verdict"),
        [
            ((0.4, 0.3), 0.05, Verdict.SUPPORTED),
            ((0.4, 0.3), 0.2, Verdict.UNDECIDED),
            ((0.4, 0.3), None, Verdict.UNDECIDED),
            ((0.8, 0.9), 0.05, Verdict.CONTRADICTED),
            # The two indices disagree.
            ((0.8, 0.3), 0.05, Verdict.UNDECIDED),
        ],
    )
    def test_medical_signals_are_above_by_intervals_in_both_indices(
        self, weather: tuple[float, float], spread: float | None, verdict: Verdict
    ) -> None:
        medical = [centralization(name, 0.6, 0.6, spread=spread) for name in MEDICAL]
        judge = CentralizationJudge([*medical, centralization("weather", *weather, spread=spread)])
        ruling = judge(claim("medical-more-centralized"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_only_whole_data_decide(self) -> None:
        medical = [centralization(name, 0.6, 0.6, "excerpt", 0.05) for name in MEDICAL]
        judge = CentralizationJudge([*medical, centralization("weather", 0.4, 0.3, spread=0.05)])
        ruling = judge(claim("medical-more-centralized"))
        assert ruling is not None
        assert ruling.verdict is Verdict.UNDECIDED
        assert "adftd is excerpt" in ruling.evidence

    def test_a_dataset_that_is_missing_leaves_it_undecided(self) -> None:
        records = [
            centralization("adftd", 0.6, 0.6, spread=0.05),
            centralization("weather", 0.4, 0.3, spread=0.05),
        ]
        ruling = CentralizationJudge(records)(claim("medical-more-centralized"))
        assert ruling is not None
        assert ruling.verdict is Verdict.UNDECIDED
        assert "ptb-xl was not analysed" in ruling.evidence

    @pytest.mark.parametrize(
        ("off", "verdict"), [(0.0, Verdict.SUPPORTED), (0.2, Verdict.UNDECIDED)], ids=["met", "met by none"]
    )
    def test_one_reading_gives_the_whole_table_or_it_is_open(self, off: float, verdict: Verdict) -> None:
        records = [centralization(name, sci + off, dic) for name, (sci, dic) in TABLE.items()]
        ruling = CentralizationJudge(records)(claim("centralization-one-reading"))
        assert ruling is not None
        assert ruling.verdict is verdict

    def test_cells_of_two_scalings_contradict_one_reading(self) -> None:
        records = []
        for number, (name, (sci, dic)) in enumerate(TABLE.items()):
            other = WINDOW.model_copy(
                update={"scaling": "raw" if WINDOW.scaling != "raw" else "standardised"}
            )
            used, unused = (WINDOW, other) if number % 2 else (other, WINDOW)
            measures = (measured(used, sci), measured(unused, sci + 0.2), measured(DIC, dic))
            records.append(record(name, sci).model_copy(update={"measures": measures}))
        ruling = CentralizationJudge(records)(claim("centralization-one-reading"))
        assert ruling is not None
        assert ruling.verdict is Verdict.CONTRADICTED
        assert "raw, standardised" in ruling.evidence


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
        ("changes", "correlations", "distances"),
        [
            ((-4.0, -3.0, -3.4, -3.2, -3.8), Verdict.UNDECIDED, Verdict.CONTRADICTED),
            ((-9.9, -10.0, -10.1, -10.0, -10.2), Verdict.CONTRADICTED, Verdict.CONTRADICTED),
            ((6.0, -4.0, 8.0, -8.0, 3.0), Verdict.UNDECIDED, Verdict.UNDECIDED),
        ],
    )
    def test_changes_are_judged_by_sign_and_size(
        self, cells: AnalysedCells, changes: tuple[float, ...], correlations: Verdict, distances: Verdict
    ) -> None:
        judge = ChannelMixingJudge([mixing(cells, changes)])
        for name, verdict in (("mixing-correlations", correlations), ("mixing-distances", distances)):
            ruling = judge(claim(name))
            assert ruling is not None
            assert ruling.verdict is verdict

    def test_changes_as_stated_are_supported(self, cells: AnalysedCells) -> None:
        stated = claim("mixing-correlations").about["changes_percent"]
        asked = replace(claim("mixing-correlations"), about={"changes_percent": dict.fromkeys(stated, -3.4)})
        ruling = ChannelMixingJudge([mixing(cells, (-2.4, -4.4, -3.4, -3.0, -3.8))])(asked)
        assert ruling is not None
        assert ruling.verdict is Verdict.SUPPORTED

    def test_equal_changes_have_no_largest(self, cells: AnalysedCells) -> None:
        ruling = ChannelMixingJudge([mixing(cells, (9.0, 8.0, 10.0, 9.5, 8.5))])(
            claim("mixing-largest-ad-cn")
        )
        assert ruling is not None
        assert ruling.verdict is Verdict.UNDECIDED

    def test_no_record_no_verdict(self) -> None:
        assert ChannelMixingJudge([])(claim("mixing-correlations")) is None
        assert ChannelMixingJudge([])(claim("mixing-largest-ad-cn")) is None


def embedding(cells: AnalysedCells, model: str, silhouette: float, share: float) -> EmbeddingRecord:
    """Make a record whose seeds differ by a percent at most."""
    seeds = tuple(
        SeedEmbedding(
            seed=seed,
            silhouette_class=silhouette + 0.005 * (seed - 43),
            silhouette_subject=0.1,
            class_from_others=share + 0.005 * (seed - 43),
            class_from_all=0.9,
            subject_from_all=0.8,
        )
        for seed in cells.seeds
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
        seeds=seeds,
        arrays_sha256="0" * 64,
    )


class TestEmbedding:
    @pytest.mark.parametrize(
        ("theirs", "verdict"),
        [(0.3, Verdict.SUPPORTED), (0.4, Verdict.UNDECIDED), (0.45, Verdict.CONTRADICTED)],
    )
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
        for theirs, verdict in (
            (0.1, Verdict.SUPPORTED),
            (0.2, Verdict.UNDECIDED),
            (0.3, Verdict.CONTRADICTED),
        ):
            records = [ours, embedding(there, "medformer", theirs, 0.4)]
            ruling = EmbeddingJudge(records)(claim("embedding-ptb-xl"))
            assert ruling is not None
            assert ruling.verdict is verdict

    def test_one_model_alone_is_no_comparison(self, cells: AnalysedCells) -> None:
        assert EmbeddingJudge([embedding(cells, "medmamba", 0.2, 0.5)])(claim("embedding-adftd")) is None


def test_without_records_every_judge_is_silent(tmp_path: Path) -> None:
    judges = make_judges(tmp_path, [])
    asked = [one for one in text_claims() if one.needs in judges]
    assert {one.needs for one in asked} == judges.keys()
    # What others had published needs no records.
    silent = [claim for claim in asked if claim.needs != "field"]
    assert [claim.id for claim in silent if judges[claim.needs](claim) is not None] == []
