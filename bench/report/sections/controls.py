"""Trainings from which nothing can be learned: what they score shows whether something leaks."""

from bench.report.section import Section
from bench.report.tables.control_table import control_table
from bench.studies.control_scores import Controls


def controls_section(controls: Controls) -> Section:
    """Return the section of controls, of which there is at least one."""
    intro = (
        "Cells trained on shuffled labels (bench run --control shuffled-labels). They are not results and are in no "
        "other table: if they score above a guess, the score does not come from the training labels."
    )
    return Section("controls", "Controls", intro, (control_table(controls.studies),))
