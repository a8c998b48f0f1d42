"""The field's published scores: every model has a dated source, and precedence follows from dates and intervals."""

import subprocess
import sys
from dataclasses import replace

import pytest

from bench.errors import UsageError
from bench.field.claimed import METRICS, datasets, models_on, papers, row_of, scores, this_paper
from bench.field.field_tables import field_table, field_tables
from bench.field.precedence import judge_best, precedes
from bench.stats.verdict import Decision


def test_every_model_is_dated_and_every_score_has_a_source() -> None:
    assert set(papers()) == {score.model for score in scores()}
    assert all(score.source and score.commit and score.metric in METRICS for score in scores())
    assert all(0 < score.mean < 100 for score in scores())


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        (("WWW 2025", "2025-04-28"), ("arXiv 2605.05214", "2026-05"), True),
        (("arXiv 2605.05214", "2026-05"), ("arXiv 2605.24961", "2026-05"), True),
        (("arXiv 2605.24961", "2026-05"), ("arXiv 2605.05214", "2026-05"), False),
        (("a conference", "2026-05-01"), ("arXiv 2605.05214", "2026-05"), False),
        (("NeurIPS 2026", "2026-12"), ("arXiv 2605.05214", "2026-05"), False),
    ],
)
def test_precedence_by_month_then_by_running_number(earlier, later, expected: bool) -> None:
    def paper(venue: str, published: str):
        return replace(this_paper(), venue=venue, published=published)

    assert precedes(paper(*earlier), paper(*later)) is expected


def test_later_models_never_count_against_the_paper() -> None:
    judged = judge_best("apava", "f1")

    assert judged is not None
    assert {"ViRe", "MedMamba (Zhang et al.)"}.isdisjoint(score.model for score in judged.earlier)


@pytest.mark.parametrize(
    ("dataset", "metric", "expected"),
    [
        # MedGNN 55.00 ± 0.24 against 52.01 ± 0.93; Welch's t is 6.2 with 4.5 degrees of freedom.
        ("adftd", "f1", Decision.CONTRADICTED),
        ("apava", "accuracy", Decision.CONTRADICTED),
        # TeCh 84.53 ± 1.58 against 85.97 ± 1.75.
        ("ptb", "accuracy", Decision.UNDECIDED),
        ("ptb-xl", "f1", Decision.SUPPORTED),
    ],
)
def test_verdicts_on_the_best_published_at_the_time(dataset: str, metric: str, expected: Decision) -> None:
    judged = judge_best(dataset, metric)

    assert judged is not None
    assert judged.decision == expected


def test_nothing_to_judge_where_nobody_reports() -> None:
    assert judge_best("sleep-edf", "f1") is None


@pytest.mark.parametrize("dataset", datasets())
def test_table_has_every_model_and_the_paper(dataset: str) -> None:
    labels = [row.label for row in field_table(dataset).rows]

    assert set(labels) == {*models_on(dataset), this_paper().model}
    assert row_of(dataset, this_paper().model)["f1"].mean > 0


def test_unknown_dataset_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="uci-har"):
        field_tables(["uci-hat"])


def test_command_prints_a_table() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "bench", "field", "show", "--datasets", "uci-har"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "TeCh" in shown.stdout
    assert "94.26±0.98" in shown.stdout
    assert "5,881 for training" in shown.stdout
