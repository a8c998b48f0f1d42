"""Tests of MedMamba and each rival over seeds, and apart from them what the number of test subjects allows at most.

The two answer different questions: other seeds on these very subjects, and other subjects.
"""

from collections.abc import Callable, Sequence

from bench.errors import RecordError
from bench.paper.names import OURS, short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.report.tables.significance import METRIC_TITLES
from bench.stats.seed_tests import permutation, smallest_paired_p, smallest_permutation_p, welch
from bench.stats.unknowable import NoIntervalError
from bench.studies.caption import plural, suite_setting
from bench.studies.model_blocks import together
from bench.studies.suite import Study, Suite

_Test = Callable[[Sequence[float], Sequence[float]], float]


def seed_table(suite: Suite, metric: str, name: str) -> Table | None:
    """Return both tests' p for each rival on each dataset; None without MedMamba and a rival on any dataset."""
    rivals = [model for model in suite.models if model != OURS]
    studies = [study for study in suite.studies if OURS in study.groups]
    if not rivals or not studies:
        return None
    notes = Footnotes()
    rows = tuple(
        Row(rival, tuple(cell for study in studies for cell in _cells(study, rival, metric, notes)))
        for rival in rivals
    )
    limits = "; ".join(dict.fromkeys(_limits(study) for study in studies))
    return Table(
        name=name,
        title=f"MedMamba against each model by {METRIC_TITLES[metric]}: tests over seeds",
        columns=("Welch", "permutation") * len(studies),
        groups=tuple((short_name(study.dataset), 2) for study in studies),
        blocks=(Block("two-sided p", rows),),
        caption=(
            f"{suite_setting(suite, studies)} {together((OURS, *rivals), 'Compared')}The tests ask whether "
            "other seeds would order the two models in the same way on these same test subjects. "
            f"{plural(len(rivals) * len(studies), 'comparison')}, not corrected for their number. The smallest p that "
            f"the data allow: {limits}. Welch's t has no such limit, since it assumes normal scores. For other "
            "subjects see the intervals of the differences."
        ),
        footnotes=notes.texts,
        corner="Rival",
    )


def _cells(study: Study, rival: str, metric: str, notes: Footnotes) -> tuple[Cell, Cell]:
    """Return p by Welch's test and by permutation; dashes with the reason if either model is incomplete."""
    for model in (OURS, rival):
        if not study.is_complete(model):
            gap = Cell(note=notes.number(study.gap(model)))
            return gap, gap
    ours, others = (list(study.groups[model].by_seed(metric).values()) for model in (OURS, rival))
    place = short_name(study.dataset)
    return _p(welch, ours, others, place, notes), _p(permutation, ours, others, place, notes)


def _p(test: _Test, ours: list[float], others: list[float], place: str, notes: Footnotes) -> Cell:
    """Return a test's p; a dash with the reason where the seeds are too few or too many for it."""
    try:
        return Cell(text=f"{test(ours, others):.2g}")
    except (NoIntervalError, RecordError) as error:
        return Cell(note=notes.number(f"{place}: {error}"))


def _limits(study: Study) -> str:
    """Say which p no permutation of the seeds and no test of signs over the test subjects can go below."""
    n_seeds, n_subjects = len(study.seeds), study.record.data.parts["test"].n_subjects
    return (
        f"{short_name(study.dataset)} {smallest_permutation_p(n_seeds, n_seeds):.2g} by permutation of "
        f"{plural(2 * n_seeds, 'score')}, {smallest_paired_p(n_subjects):.2g} by signs of "
        f"{plural(n_subjects, 'test subject')}"
    )
