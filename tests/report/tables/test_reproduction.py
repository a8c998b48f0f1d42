"""Published against measured, and the verdicts on the paper's claims of scores."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.paper import published
from bench.paper.claims import Claim, ledger, tally, text_claims
from bench.paper.scale import Ruling, Verdict
from bench.report.judges import make_judges
from bench.report.judges.ablation_claims import AblationJudge
from bench.report.judges.score_claims import CellJudge
from bench.report.tables.claims_table import all_claims_table, claims_table
from bench.report.tables.reproduction import Reproduction, reproduction_table, reproductions
from bench.results.record import Record
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.suite import Suite, make_suites
from tests.report.grids import ABLATIONS, PAPER_MODELS, Grid, write_grid
from tests.report.ledger import claim

SEEDS = (41, 42, 43, 44, 45)
DATASETS = ("ptb", "ptb-xl")


@pytest.fixture(scope="module")
def paper_grid(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """All paper models and seeds on the two ECG datasets."""
    grid = Grid(models=PAPER_MODELS, datasets=DATASETS, seeds=SEEDS, n_epochs=1)
    return write_grid(tmp_path_factory.mktemp("paper"), grid)


def with_published_scores(
    records: list[Record], shift: float = 0.0, points: Mapping[tuple[str, int], float] | None = None
) -> Suite:
    """Return a suite whose every score is the published one plus so many published deviations.

    `points` adds percentage points to all scores of (model, seed).
    """
    points = points or {}
    changed = []
    for record in records:
        assert record.metrics is not None
        scores = {
            metric: (score.mean + shift * score.std + points.get((record.cell.model, record.cell.seed), 0.0))
            / 100
            for metric in published.METRICS
            if (score := published.lookup(record.cell.dataset, record.cell.model, metric))
        }
        test = record.metrics.test.model_copy(update=scores)
        changed.append(
            record.model_copy(update={"metrics": record.metrics.model_copy(update={"test": test})})
        )
    return make_suites(compare(changed))[0]


def suite_of(out: Path) -> Suite:
    return make_suites(compare(read_all(out)[0]))[0]


def score(mean: float = 85.97, std: float = 1.75) -> published.PublishedScore:
    return published.PublishedScore("ptb", "medmamba", "accuracy", mean, std, True, "main_results1")


SPREAD = (-1.0, -0.5, 0.0, 0.5, 1.0)


def test_difference_is_in_units_of_the_published_deviation() -> None:
    found = Reproduction(score(80.0, 2.0), [82.0, 84.0], "")
    assert (found.difference, found.in_stds) == (pytest.approx(3.0), pytest.approx(1.5))


@pytest.mark.parametrize(
    ("off", "spread", "void", "verdict"),
    [
        (0.0, 0.1, "", Verdict.SUPPORTED),
        (9.0, 0.1, "", Verdict.CONTRADICTED),
        # Fewer than two deviations away, but not surely so.
        (2.0, 1.0, "", Verdict.UNDECIDED),
        (0.0, 9.0, "", Verdict.UNDECIDED),
        (0.0, 0.1, "simulated data", Verdict.UNDECIDED),
    ],
)
def test_verdict_of_one_score(off: float, spread: float, void: str, verdict: Verdict) -> None:
    scores = [80.0 + off + spread * deviation for deviation in SPREAD]
    assert Reproduction(score(80.0, 2.0), scores, void).verdict == verdict


def test_a_score_that_was_not_measured_has_no_verdict() -> None:
    assert Reproduction(score(), [], "").verdict == "not run"


@pytest.mark.parametrize("dataset", ["uci-har", "sleep-edf"])
@pytest.mark.parametrize("scores", [[], [96.0, 96.0]])
def test_without_a_published_split_a_score_is_not_checkable_run_or_not(
    dataset: str, scores: list[float]
) -> None:
    printed = published.lookup(dataset, "medmamba", "accuracy")
    assert printed is not None
    assert Reproduction(printed, scores, "").verdict == Verdict.NOT_CHECKABLE


def test_the_reason_of_not_checkable_cells_stands_in_the_caption(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("uci-har",), seeds=SEEDS, n_epochs=1))
    table = reproduction_table(suite_of(tmp_path).studies[0], "r")
    assert table is not None
    assert "no published split" in table.caption
    assert table.caption.endswith("60 scores: 60 not checkable.")


@pytest.mark.parametrize(
    ("grid", "reason"),
    [
        (Grid(seeds=SEEDS, datasets=("ptb",)), ""),
        (Grid(seeds=(41, 42), datasets=("ptb",)), "seeds 41, 42"),
        (Grid(seeds=SEEDS, datasets=("ptb",), kind="excerpt"), "excerpt data"),
        (Grid(seeds=SEEDS, datasets=("ptb",), recipe="medformer"), "recipe medformer"),
        (
            Grid(seeds=SEEDS, datasets=("ptb",), preset="quick"),
            "changed epochs=10, warmup_epochs=1",
        ),
    ],
    ids=["the paper's", "seeds", "excerpt", "recipe", "settings"],
)
def test_why_a_comparison_is_void(tmp_path: Path, grid: Grid, reason: str) -> None:
    write_grid(tmp_path, dataclasses.replace(grid, n_epochs=1))
    assert suite_of(tmp_path).studies[0].void("medmamba") == reason


def test_every_published_score_of_the_dataset_has_a_row(full: Path) -> None:
    table = reproduction_table(suite_of(full).studies[0], "reproduction-ptb")
    assert table is not None
    assert len(table.rows) == 12 * 5
    assert "60 scores: 15 undecided, 45 not run" in table.caption


def test_published_scores_support_themselves(paper_grid: list[Record]) -> None:
    suite = with_published_scores(paper_grid)
    found = [score for study in suite.studies for score in reproductions(study)]
    assert {score.verdict for score in found} == {Verdict.SUPPORTED}


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("ptb-margin", Verdict.SUPPORTED),
        ("ptb-xl-all-metrics", Verdict.SUPPORTED),
        ("ptb-xl-strongest-baseline", Verdict.SUPPORTED),
        # iTransformer's 83.89 is the strongest.
        ("ptb-strongest-baseline", Verdict.CONTRADICTED),
        ("ptb-xl-harder-than-ptb", Verdict.SUPPORTED),
        ("ecg-best-in-all-metrics", Verdict.CONTRADICTED),
        ("adftd-all-metrics", Verdict.UNDECIDED),
        ("adftd-hardest", Verdict.UNDECIDED),
        ("impressions-of-results", None),
    ],
)
def test_claims_of_the_text_on_the_papers_own_scores(
    paper_grid: list[Record], name: str, verdict: Verdict | None
) -> None:
    asked = claim(name)
    ruling = CellJudge(with_published_scores(paper_grid))(asked)
    assert (ruling and ruling.verdict) == verdict


@pytest.mark.parametrize(
    ("points", "verdict"),
    [
        ((0.1, -0.1, 0.0, 0.1, -0.1), Verdict.SUPPORTED),
        ((4.0, -4.0, 0.0, 4.0, -4.0), Verdict.UNDECIDED),
        ((-9.0, -9.5, -8.5, -9.0, -9.0), Verdict.CONTRADICTED),
    ],
    ids=["near", "either way", "behind"],
)
def test_a_lead_goes_by_its_interval(
    paper_grid: list[Record], points: tuple[float, ...], verdict: Verdict
) -> None:
    added = {("medmamba", seed): value for seed, value in zip(SEEDS, points, strict=True)}
    lead = dataclasses.replace(claim("ptb-margin"), check=claim("ptb-margin").check["checks"][0])
    ruling = CellJudge(with_published_scores(paper_grid, points=added))(lead)
    assert ruling is not None
    assert ruling.verdict is verdict


def test_seeds_of_two_models_are_not_paired(paper_grid: list[Record]) -> None:
    swing = {(model, seed): 3.0 * (seed - 43) for model in ("medmamba", "medformer") for seed in SEEDS}
    ruling = CellJudge(with_published_scores(paper_grid, points=swing))(claim("ptb-xl-all-metrics"))
    assert ruling is not None
    assert ruling.verdict is Verdict.UNDECIDED


def test_two_models_of_equal_ability_end_undecided(paper_grid: list[Record]) -> None:
    swing = {
        (model, seed): 2.0 * ((seed - 41 + number) % 5 - 2) - (1.09 if model == "medmamba" else 0)
        for number, model in enumerate(("medmamba", "crossformer"))
        for seed in SEEDS
    }
    check = {"name": "best_in_rows", "datasets": ["ptb-xl"], "metrics": ["accuracy"]}
    judge = CellJudge(with_published_scores(paper_grid, points=swing))
    ruling = judge(dataclasses.replace(claim("ptb-xl-all-metrics"), check=check))
    assert ruling is not None
    assert ruling.verdict is Verdict.UNDECIDED
    assert "lowest +0.00" in ruling.evidence


def test_records_that_are_not_the_papers_decide_nothing(full: Path) -> None:
    ruling = CellJudge(suite_of(full))(claim("ecg-best-in-all-metrics"))
    assert ruling == Ruling(Verdict.UNDECIDED, "no score to compare: medmamba on PTB: seeds 41, 42")


def test_a_comparison_on_a_dataset_that_was_not_run_is_undecided(paper_grid: list[Record]) -> None:
    ruling = CellJudge(with_published_scores(paper_grid))(claim("apava-all-metrics"))
    assert ruling == Ruling(Verdict.UNDECIDED, "no score to compare: medmamba on APAVA: not run")


def test_what_is_said_of_all_datasets_is_contradicted_by_those_with_a_published_split_or_not_at_all(
    paper_grid: list[Record],
) -> None:
    check = {"name": "best_in_rows", "datasets": ["ptb-xl", "uci-har"]}
    asked = dataclasses.replace(claim("best-everywhere"), check=check)
    ruling = CellJudge(with_published_scores(paper_grid))(asked)
    assert ruling is not None
    assert ruling.verdict is Verdict.NOT_CHECKABLE
    assert ruling.evidence.startswith("UCI-HAR: no published split")
    behind = {("medmamba", seed): -30.0 for seed in SEEDS}
    ruling = CellJudge(with_published_scores(paper_grid, points=behind))(asked)
    assert ruling is not None
    assert ruling.verdict is Verdict.CONTRADICTED


def test_without_the_papers_recipe_nobody_judges_scores(tmp_path: Path) -> None:
    assert not {"cells", "ablation", "setup"} & make_judges(tmp_path, []).keys()


def test_ledger_table_counts_every_claim_but_those_that_are_followed(
    paper_grid: list[Record], tmp_path: Path
) -> None:
    entries = ledger(make_judges(tmp_path, [with_published_scores(paper_grid)]))
    table, whole = claims_table(entries, "claims"), all_claims_table(entries, "claims-all")
    assert len(table.rows) == len(whole.rows) == len(text_claims())
    numbers = tally(entries)
    n_followed = numbers.pop(Verdict.FOLLOWED)
    assert table.caption.startswith(f"{sum(numbers.values())} claims of text, figures and captions: ")
    assert f"; {n_followed} more are followed here." in table.caption
    for verdict, number in numbers.items():
        assert not number or f"{number} {verdict.value}" in whole.caption


def test_ledger_table_is_grouped_by_verdict_worst_first(paper_grid: list[Record], tmp_path: Path) -> None:
    entries = ledger(make_judges(tmp_path, [with_published_scores(paper_grid)]))
    blocks = claims_table(entries, "claims").blocks
    assert [block.heading.partition(":")[0] for block in blocks] == [verdict.value for verdict in Verdict]
    for block in blocks:
        assert {row.cells[1].text for row in block.rows} == {block.heading.partition(":")[0]}


def test_ledger_rows_have_verdict_evidence_and_command(paper_grid: list[Record], tmp_path: Path) -> None:
    entries = ledger(make_judges(tmp_path, [with_published_scores(paper_grid)]))
    rows = claims_table(entries, "c").rows
    row = next(row for row in rows if row.label.startswith("MedMamba improves on every baseline in every"))
    assert [cell.text for cell in row.cells][1] in {"supported", "undecided"}
    assert row.cells[3].text == "bench run --models all --datasets all"


@pytest.fixture(scope="module")
def ablation_grid(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """The full and the reduced models on ADFTD, all seeds."""
    grid = Grid(models=("medmamba", *ABLATIONS), datasets=("adftd",), seeds=SEEDS, n_epochs=1)
    return write_grid(tmp_path_factory.mktemp("ablation"), grid)


def with_published_ablation(records: list[Record]) -> Suite:
    printed = {(one.variant, one.metric): one.mean / 100 for one in published.ablation()}
    changed = []
    for record in records:
        assert record.metrics is not None
        scores = {metric: printed[record.cell.model, metric] for metric in published.METRICS}
        test = record.metrics.test.model_copy(update=scores)
        changed.append(
            record.model_copy(update={"metrics": record.metrics.model_copy(update={"test": test})})
        )
    return make_suites(compare(changed))[0]


@pytest.mark.parametrize("name", ["full-model-best", "component-order"])
def test_the_papers_ablation_supports_itself(ablation_grid: list[Record], name: str) -> None:
    ruling = AblationJudge(with_published_ablation(ablation_grid))(claim(name))
    assert ruling is not None
    assert ruling.verdict is Verdict.SUPPORTED


def test_another_order_of_losses_is_contradicted(ablation_grid: list[Record]) -> None:
    asked = claim("component-order")
    check = {**asked.check, "variants": list(reversed(asked.check["variants"]))}
    ruling = AblationJudge(with_published_ablation(ablation_grid))(dataclasses.replace(asked, check=check))
    assert ruling is not None
    assert ruling.verdict is Verdict.CONTRADICTED


def test_ablation_without_all_reduced_models_is_undecided(full: Path) -> None:
    ruling = AblationJudge(suite_of(full))(claim("full-model-best"))
    assert ruling is not None
    assert ruling.verdict is Verdict.UNDECIDED


def test_judge_ignores_claims_it_knows_nothing_of(full: Path) -> None:
    claim = Claim("x", "here", "text", "", "theory", "cells")
    assert CellJudge(suite_of(full))(claim) is None
