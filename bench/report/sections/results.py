"""Who wins where, and the paper's two main tables."""

from collections.abc import Mapping, Sequence

from bench.report.answer import who_wins
from bench.report.section import Section, present
from bench.report.tables.brief import brief_headline, brief_scores
from bench.report.tables.f1_matrix import f1_matrix
from bench.report.tables.headline import headline
from bench.report.tables.paper_tables import ecg_table, eeg_table
from bench.studies.predicted import Predicted
from bench.studies.suite import Suite


def results_section(
    suite: Suite,
    tested: Mapping[str, Predicted],
    suffix: str,
    recipe: str,
    ranking_recipes: Sequence[str] = (),
) -> Section:
    """Return the section; ``tested`` holds the predictions by dataset.

    ``ranking_recipes`` are those at hand that train all models by one protocol.
    """
    tables, figures = present(
        headline(suite, tested, f"headline{suffix}", ranking_recipes),
        f1_matrix(suite, f"f1{suffix}"),
        ecg_table(suite, f"main-ecg{suffix}"),
        eeg_table(suite, f"main-eeg-activity{suffix}"),
    )
    intro = (
        "Who wins where, by how much and how sure; the F1 of every model on every dataset; then the paper's two main "
        "tables with the measured scores."
    )
    if not suite.has_one_protocol:
        intro += " Models that were trained by different protocols are neither ranked nor marked best."
    summary = f"Recipe {suite.recipe}: {who_wins(suite, tested)}" if suffix else who_wins(suite, tested)
    brief = brief_scores(suite, f"brief{suffix}"), brief_headline(suite, tested, f"brief-headline{suffix}")
    title = f"Results{recipe}"
    return Section(f"results{suffix}", title, intro, tables, figures, summary=summary, brief=brief)
