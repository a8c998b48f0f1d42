"""Captions of numbers: data, split, seeds, deviation, recipe and device, from the records themselves."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bench.paper.names import short_name
from bench.results.record import Record
from bench.stats.summary import DDOF
from bench.studies import kinds
from bench.studies.aggregate import Group
from bench.studies.protocols import number_of_protocols, protocols_in_words, smaller_batches
from bench.studies.suite import Study, Suite
from bench.studies.tried import tuning_sentence


def study_caption(study: Study, shown: Iterable[Group] | None = None) -> str:
    """Return the caption of test scores on one dataset, as means and deviations.

    ``shown`` are the models whose protocols are told, by default all that the study compares.
    """
    groups = {study.dataset: [*(study.groups.values() if shown is None else shown)]}
    return _joined(
        f"Test scores in percent, {spread(study.seeds)}. {data(study)} {conditions([study])}",
        protocols_in_words(groups),
        smaller_batches(groups),
    )


def study_setting(study: Study) -> str:
    """Return the setting of one dataset for a caption: seeds, data, recipe and device."""
    groups = _groups([study])
    return _joined(
        f"{_seeds(study.seeds)}. {data(study)} {conditions([study])}",
        number_of_protocols(groups),
        smaller_batches(groups),
    )


def suite_caption(suite: Suite, studies: Sequence[Study]) -> str:
    """Return the caption of test scores on several datasets, as means and deviations."""
    if len({study.seeds for study in studies}) == 1:
        over = spread(studies[0].seeds)
    else:
        over = f"mean and sample standard deviation (ddof {DDOF}) over seeds, which differ: {_each_seeds(studies)}"
    groups = _groups(studies)
    return _joined(
        f"Test scores in percent, {over}. {_suite_conditions(suite, studies)}",
        protocols_in_words(groups),
        smaller_batches(groups),
    )


def suite_setting(suite: Suite, studies: Sequence[Study]) -> str:
    """Return the setting of several datasets for a caption."""
    same = len({study.seeds for study in studies}) == 1
    seeds = _seeds(studies[0].seeds) if same else f"Seeds differ: {_each_seeds(studies)}"
    groups = _groups(studies)
    return _joined(
        f"{seeds}. {_suite_conditions(suite, studies)}", number_of_protocols(groups), smaller_batches(groups)
    )


def _groups(studies: Iterable[Study]) -> dict[str, list[Group]]:
    return {study.dataset: [*study.groups.values()] for study in studies}


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _suite_conditions(suite: Suite, studies: Sequence[Study]) -> str:
    left_out = ""
    if suite.n_left_out:
        left_out = (
            f" {plural(suite.n_left_out, 'comparison')} under changed settings or data: see their own tables."
        )
    return f"{datasets(studies)} {conditions(studies)}{left_out}"


def _seeds(seeds: Sequence[int]) -> str:
    return f"Seed{'s' if len(seeds) > 1 else ''} {numbers(seeds)}"


def _each_seeds(studies: Iterable[Study]) -> str:
    return "; ".join(f"{short_name(study.dataset)} {numbers(study.seeds)}" for study in studies)


def spread(seeds: Sequence[int]) -> str:
    """Describe the seeds that mean and deviation are over."""
    if len(seeds) == 1:
        return f"one seed ({seeds[0]}), no deviation"
    return f"mean and sample standard deviation (ddof {DDOF}) over seeds {numbers(seeds)}"


def data(study: Study) -> str:
    """Describe the test data, in one or two sentences."""
    description = study.record.data
    test = description.parts["test"]
    return (
        f"Data: {kinds.sentence(description)} ({description.version}). Split: {description.split_origin}, "
        f"{plural(test.n_subjects, 'test subject')}, {plural(test.n_windows, 'test window')}."
    )


def datasets(studies: Sequence[Study]) -> str:
    """Describe the test data of several datasets, shared facts once."""
    same: dict[str, list[str]] = defaultdict(list)
    for study in studies:
        description, test = study.record.data, study.record.data.parts["test"]
        description_text = f"{kinds.short(description)}, split {description.split_origin}"
        same[description_text].append(f"{short_name(study.dataset)} {test.n_subjects}")
    each = [
        f"{description_text}, test subjects: {', '.join(names)}" for description_text, names in same.items()
    ]
    return f"Data: {'; '.join(each)}."


def conditions(studies: Sequence[Study]) -> str:
    """Describe recipe, changed settings and devices, shared settings once."""
    recipe = studies[0].comparison.condition.recipe
    same: dict[str, list[str]] = defaultdict(list)
    for study in studies:
        same[study.comparison.condition.changes].append(short_name(study.dataset))
    if len(same) == 1:
        changes = next(iter(same))
        changed = f", changed: {changes}" if changes else ""
    else:
        each = [f"{', '.join(names)}: {changes or 'nothing'}" for changes, names in same.items()]
        changed = f", changed on {'; on '.join(each)}"
    records = [record for study in studies for record in study.comparison.records]
    sentences = (f"Recipe: {recipe}{changed}.", tuning_sentence(records), f"Device: {devices(records)}.")
    return " ".join(filter(None, sentences))


def devices(records: Iterable[Record]) -> str:
    """Return every device that records come from."""
    return "; ".join(
        sorted({f"{record.environment.device_name} ({record.environment.device})" for record in records})
    )


def numbers(seeds: Iterable[int]) -> str:
    """Return seeds as a comma list."""
    return ", ".join(map(str, seeds)) or "none"


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, with a plural s unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def small_test(study: Study) -> str:
    """Warn that a test on few subjects shows little, of scores and of intervals."""
    n_subjects = study.record.data.parts["test"].n_subjects
    name = short_name(study.dataset)
    return f"{name}: {plural(n_subjects, 'test subject')}: too few to rank models"


def data_remarks(study: Study) -> list[str]:
    """Return the remarks that a reader needs before comparing scores of a study."""
    remarks = []
    description, test = study.record.data, study.record.data.parts["test"]
    pairs = zip(description.class_names, test.windows_per_class, strict=True)
    absent = [name for name, n_windows in pairs if n_windows == 0]
    if absent:
        remarks.append(f"no test window of {', '.join(absent)}: left out of the macro means")
    if study.test_is_small:
        remarks.append(small_test(study))
    if study.comparison.n_superseded:
        remarks.append(f"{study.comparison.n_superseded} records of earlier revisions are left out")
    for model, seeds in study.further_seeds.items():
        also = plural(len(seeds), "further seed")
        remarks.append(
            f"{model} on {short_name(study.dataset)}: {also} left out ({numbers(seeds)}), which others lack"
        )
    return remarks
