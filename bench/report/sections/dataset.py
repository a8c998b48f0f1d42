"""Everything on one dataset: scores of windows, of subjects and of classes.

Its figures are the modules of `bench.report.figures` with a ``POSITION``: a new figure needs only its file.
"""

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType

from bench.render.figure import Figure
from bench.report import figures
from bench.report.section import Section, present
from bench.report.tables.main_results import main_results
from bench.report.tables.subject_results import class_results, subject_results
from bench.studies.predicted import Predicted
from bench.studies.suite import Study


def dataset_section(study: Study, tested: Predicted, suffix: str, recipe: str) -> Section:
    """Return the section of one study with its predictions."""
    name = f"{study.dataset}{suffix}"
    tables, _ = present(
        main_results(study, f"main-{name}"),
        subject_results(tested, f"subjects-{name}"),
        class_results(study, f"classes-{name}"),
    )
    intro = f"{study.record.data.title}. Scores of windows, of subjects and of classes."
    if not tested.cells:
        intro += " There are no predictions, so results by subject, confusion matrices and calibration are missing."
    drawn: list[Figure | None] = [module.figure(tested, f"{module.NAME}-{name}") for module in _modules()]
    return Section(f"dataset-{name}", f"{study.label}{recipe}", intro, tables, present(*drawn)[1])


@cache
def _modules() -> list[ModuleType]:
    """Return the modules of a dataset section's figures, by position."""
    found = [
        import_module(f"{figures.__name__}.{info.name}") for info in pkgutil.iter_modules(figures.__path__)
    ]
    return sorted((module for module in found if hasattr(module, "POSITION")), key=lambda m: m.POSITION)
