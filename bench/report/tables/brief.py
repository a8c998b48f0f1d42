"""What a terminal of 80 columns shows of a suite: the F1 of every model on every dataset, and who wins where."""

from collections.abc import Mapping, Sequence

from bench.paper.names import OURS, ablation_variants, short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.report.tables.main_results import attainable_rows, chance_rows, score_cell
from bench.report.tables.standing import standing
from bench.results.metrics import METRICS
from bench.stats.draws import LEVEL
from bench.studies.above_chance import points_above_chance
from bench.studies.model_blocks import blocks_of, together
from bench.studies.predicted import Predicted
from bench.studies.suite import Study, Suite

_F1 = tuple(METRICS).index("f1")


def brief_scores(suite: Suite, name: str) -> Table:
    """Return macro F1, models as rows and datasets as columns, with chance and what is attainable."""
    models = [model for model in suite.models if model not in ablation_variants()]
    rows = [
        Row(model, tuple(_mean(study, model) for study in suite.studies))
        for members in blocks_of(models).values()
        for model in members
    ]
    return Table(
        name=name,
        title=f"Macro F1 in percent, mean over seeds{_recipe(suite)}",
        columns=tuple(short_name(study.dataset) for study in suite.studies),
        blocks=(Block("", (*rows, *_references(suite.studies))),),
        caption="",
        digits=1,
    )


def brief_headline(suite: Suite, tested: Mapping[str, Predicted], name: str) -> Table:
    """Return MedMamba's F1 between chance and the best, and how many models are surely above chance."""
    is_simulated = all(study.kind == "simulated" for study in suite.studies)
    best = ("best", "F1") if suite.has_one_protocol else ()
    last = "attainable" if is_simulated else "how sure"
    rows = []
    for study in suite.studies:
        of_dataset = tested.get(study.dataset)
        found, guess = standing(study, of_dataset, Footnotes()), chance_rows(study.record)[-1].cells[_F1]
        cells = [Cell()] * len(best)
        if best and found.order:
            cells = [Cell(text=found.order[0]), _mean(study, found.order[0])]
        cells += [_mean(study, OURS), guess, Cell(text=_above(of_dataset))]
        cells.append(_attainable(study) if is_simulated else Cell(text=found.certainty))
        rows.append(Row(short_name(study.dataset), tuple(cells)))
    return Table(
        name=name,
        title=f"Who wins where: macro F1 in percent{_recipe(suite)}",
        columns=(*best, "MedMamba", "chance", "above", last),
        blocks=(Block("", tuple(rows)),),
        caption=_meaning(suite, is_simulated),
        corner="Dataset",
        digits=1,
    )


def _meaning(suite: Suite, is_simulated: bool) -> str:
    sentences = [f"Above: number of models whose {LEVEL:.0%} interval lies above chance."]
    if not suite.has_one_protocol:
        sentences.append("Models with different protocols are not ranked.")
    elif compared := together(suite.models, "Compared"):
        sentences.append(compared.strip())
    if is_simulated:
        sentences.append(
            "Simulated, not interpretable; attainable: what an ideal classifier is expected to reach."
        )
    return " ".join(sentences)


def _recipe(suite: Suite) -> str:
    return f", recipe {suite.recipe}"


def _mean(study: Study, model: str) -> Cell:
    """Return a model's mean F1 without its deviation; a dash if seeds are missing."""
    if model not in study.groups or not study.is_complete(model):
        return Cell()
    return Cell(score_cell(study.groups[model], "f1").mean)


def _references(studies: Sequence[Study]) -> list[Row]:
    """Return the rows of a stratified guess and, where a dataset has it, of the attainable F1."""
    rows = [Row("chance", tuple(chance_rows(study.record)[-1].cells[_F1] for study in studies))]
    attainable = tuple(_attainable(study) for study in studies)
    return [*rows, Row("attainable", attainable)] if any(not cell.is_empty for cell in attainable) else rows


def _attainable(study: Study) -> Cell:
    return next((row.cells[_F1] for row in attainable_rows(study.record)), Cell())


def _above(tested: Predicted | None) -> str:
    if tested is None:
        return "--"
    margins = points_above_chance(tested)
    models = [model for model in margins if model not in ablation_variants()]
    n_above = sum((margins[model] or 0.0) > 0.0 for model in models)
    return f"{n_above} of {len(models)}"
