"""The record of how well a linear probe recognises the training subjects in a model's features."""

from pydantic import Field

from bench.analyses import contract
from bench.analyses.analysis_record import CellsRecord
from bench.results.field_types import Count, Seed, Share, Size
from bench.results.frozen_model import FrozenModel

NAME = "subject-probe"


class SeedProbe(FrozenModel):
    """Shares of the probe's test windows whose subject is recognised, of one cell.

    ``trained`` in the features of the cell's network, ``untrained`` in those of the weights that its training began
    with.
    """

    seed: Seed
    trained: Share
    untrained: Share


class SubjectProbeRecord(CellsRecord):
    """All trained seeds of one model on one dataset, probed on the same windows of drawn training subjects.

    Of each subject's windows, in time, the first part fits the probe and the last tests it; ``n_between`` windows in
    all lie between these parts and are left out. ``raw`` is the share for a probe on the windows themselves, ``chance``
    the share of always answering with the subject that has most test windows.
    """

    draw_seed: Seed
    n_subjects: Size
    n_subjects_of_part: Size
    n_fitted: Size
    n_between: Count
    n_tested: Size
    n_features: Size
    raw: Share
    chance: Share
    seeds: tuple[SeedProbe, ...] = Field(min_length=1)


class Options(contract.CellOptions):
    """What ``bench analyze subject-probe`` asks for."""

    models: str | None = Field(
        default=None,
        description="A comma list of names, or all. [default: the paper's models that are trained]",
    )
    datasets: str | None = Field(
        default=None, description="A comma list of names, or all. [default: all with trained cells]"
    )
    subjects: int = Field(
        default=50, ge=2, description="Largest number of training subjects, drawn at random."
    )
    windows: int = Field(default=40, ge=3, description="Largest number of windows of each subject.")
    seed: int = Field(default=41, ge=0, description="Seed of the draw of subjects.")


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Who is it",
    summary="A linear probe for how much of what a model learns is who the subject is.",
    examples=(
        "bench analyze subject-probe",
        "bench run --control subject-probe --models medmamba --datasets adftd --data DIR --out results",
    ),
    options=Options,
    record=SubjectProbeRecord,
    package="bench.analyses.subject_probe",
    is_judged=False,
)
