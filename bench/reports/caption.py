"""What captions say of numbers: data, split, seeds, deviation, recipe and device, from the records themselves."""

from collections.abc import Iterable, Sequence

from bench.reports.suite import Study, Suite, short_name
from bench.results.aggregate import DDOF
from bench.results.record import Record

KINDS = {
    "whole": "whole dataset",
    "excerpt": "EXCERPT of the dataset",
    "simulated": "SIMULATED data: the scores mean nothing",
}


def study_caption(study: Study) -> str:
    """Return the caption of test scores on one dataset."""
    return f"Test scores in percent, {spread(study.seeds)}. {data(study)} {conditions([study])}"


def suite_caption(suite: Suite, studies: Sequence[Study]) -> str:
    """Return the caption of test scores on several datasets."""
    seeds = {study.seeds for study in studies}
    if len(seeds) == 1:
        over = spread(studies[0].seeds)
    else:
        each = "; ".join(f"{short_name(study.dataset)} {numbers(study.seeds)}" for study in studies)
        over = f"mean and sample standard deviation (ddof {DDOF}) over seeds, which differ: {each}"
    left_out = ""
    if suite.n_left_out:
        left_out = f" {suite.n_left_out} comparisons under changed settings or data have tables of their own."
    return f"Test scores in percent, {over}. {datasets(studies)} {conditions(studies)}{left_out}"


def spread(seeds: Sequence[int]) -> str:
    """Say what the mean and the deviation are over."""
    if len(seeds) == 1:
        return f"one seed ({seeds[0]}), no deviation"
    return f"mean and sample standard deviation (ddof {DDOF}) over seeds {numbers(seeds)}"


def data(study: Study) -> str:
    """Say what data was tested on, in one sentence or two."""
    description = study.record.data
    test = description.parts["test"]
    return (
        f"Data: {KINDS[description.kind]} ({description.version}). Split: {description.split_origin}, "
        f"{test.n_subjects} test subjects, {test.n_windows} test windows."
    )


def datasets(studies: Sequence[Study]) -> str:
    """Say for several datasets what was tested on."""
    each = []
    for study in studies:
        description, test = study.record.data, study.record.data.parts["test"]
        kind = {"whole": "whole", "excerpt": "EXCERPT", "simulated": "SIMULATED, scores mean nothing"}
        each.append(
            f"{short_name(study.dataset)} {kind[description.kind]}, split {description.split_origin}, "
            f"{test.n_subjects} test subjects"
        )
    return f"Data: {'; '.join(each)}."


def conditions(studies: Sequence[Study]) -> str:
    """Say recipe, changed settings and devices."""
    recipe = studies[0].comparison.condition.recipe
    changes = {study.comparison.condition.changes for study in studies}
    if len(changes) == 1:
        changed = f", changed: {next(iter(changes))}" if next(iter(changes)) else ""
    else:
        each = [
            f"{short_name(one.dataset)} {one.comparison.condition.changes or 'nothing'}" for one in studies
        ]
        changed = f", changed: {'; '.join(each)}"
    return (
        f"Recipe: {recipe}{changed}. Device: {devices(one for s in studies for one in s.comparison.records)}."
    )


def devices(records: Iterable[Record]) -> str:
    """Return every device that records come from."""
    return "; ".join(sorted({f"{one.environment.device_name} ({one.environment.device})" for one in records}))


def numbers(seeds: Iterable[int]) -> str:
    """Return seeds as a list."""
    return ", ".join(map(str, seeds)) or "none"


def data_remarks(study: Study) -> list[str]:
    """Return what a reader must know of a test split before comparing scores on it."""
    remarks = []
    description, test = study.record.data, study.record.data.parts["test"]
    pairs = zip(description.class_names, test.windows_per_class, strict=True)
    absent = [name for name, n_windows in pairs if n_windows == 0]
    if absent:
        remarks.append(f"no test window of {', '.join(absent)}: left out of the macro means")
    if study.test_is_small:
        remarks.append(
            f"{short_name(study.dataset)}: only {test.n_subjects} test subjects, "
            "differences between models are mostly chance"
        )
    if study.comparison.n_superseded:
        remarks.append(f"{study.comparison.n_superseded} records of earlier revisions are left out")
    return remarks
