"""How well logistic regression on a model's features recognises the training subjects, in windows it has not seen.

Neighbouring windows overlap or show the same seconds of a state, so a random half of the windows would be recognised
by its neighbours in the other half. The probe is therefore fitted on the first part of each subject's windows in time
and tested on the last, without the windows between. The same probe on the untrained network and on the windows
themselves says how much needs no training.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import nn

from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.context import Context
from bench.analyses.features import features_of
from bench.analyses.subject_probe.record import Options, SeedProbe, SubjectProbeRecord
from bench.analyses.trained import load_trained, trained_data, untrained
from bench.errors import DataError
from bench.models import registry as models
from bench.plan.request import chosen_models
from bench.results.record import Record
from bench.train.part import Part, interleaved
from bench.train.seeding import derived_seed

BETWEEN = 0.1
"""Share of a subject's windows, between those that fit and those that test, that is left out; at least one window."""
FEWEST = 3
MOST_ITERATIONS = 1000


@dataclass(frozen=True)
class ProbeWindows:
    """The windows that fit the probe and those that test it, of the same subjects; ``n_between`` were left out."""

    fitted: Part
    tested: Part
    n_between: int

    @property
    def chance(self) -> float:
        """The share of tested windows that the subject with most of them has."""
        return float(np.unique(self.tested.part_subjects, return_counts=True)[1].max() / len(self.tested))


def probe_windows(
    part: Part, n_subjects: int, n_windows: int, generator: np.random.Generator
) -> ProbeWindows:
    """Return the first and the last windows of drawn subjects.

    Parameters
    ----------
    part
        The windows of each subject stand in their order in time.
    n_subjects
        At most so many subjects are drawn, the classes of their first windows in their proportions.
    n_windows
        At most so many windows of each subject are taken, evenly over its windows.
    generator
        Draws the subjects.

    Raises
    ------
    DataError
        Fewer than two subjects have the three windows that this takes.
    """
    subjects = part.part_subjects
    names, first, counts = np.unique(subjects, return_index=True, return_counts=True)
    enough = counts >= FEWEST
    if enough.sum() < 2:
        raise DataError(
            f"{enough.sum()} of {len(names)} training subjects have {FEWEST} windows, a probe needs two such subjects; "
            "probe another dataset"
        )
    names, first = names[enough], first[enough]
    drawn = names[interleaved(part.part_labels[first], generator)[:n_subjects]]
    blocks = [_in_time(np.flatnonzero(subjects == name), n_windows) for name in np.sort(drawn)]
    fitted, between, tested = (np.concatenate(block) for block in zip(*blocks, strict=True))
    return ProbeWindows(_of(part, fitted), _of(part, tested), len(between))


def _in_time(positions: NDArray[np.intp], n_windows: int) -> tuple[NDArray[np.intp], ...]:
    """Return the positions of one subject's windows to fit, to leave out and to test; evenly thinned."""
    n = len(positions)
    n_between = max(1, round(BETWEEN * n))
    end = (n - n_between + 1) // 2
    parts = positions[:end], positions[end : end + n_between], positions[end + n_between :]
    return _evenly(parts[0], (n_windows + 1) // 2), parts[1], _evenly(parts[2], n_windows // 2)


def _evenly(positions: NDArray[np.intp], at_most: int) -> NDArray[np.intp]:
    chosen = np.linspace(0, len(positions) - 1, min(at_most, len(positions))).round().astype(int)
    return positions[chosen]


def _of(part: Part, positions: NDArray[np.intp]) -> Part:
    return Part(part.windows, part.labels, part.subject, part.rows[positions])


def recognised(
    fitted: NDArray[np.floating], tested: NDArray[np.floating], of_fitted: NDArray, of_tested: NDArray
) -> float:
    """Return the share of tested vectors whose subject the probe gives.

    Parameters
    ----------
    fitted, tested
        Vectors ``(n, n_features)``, standardised here by the mean and deviation of the fitted ones.
    of_fitted, of_tested
        Their subjects ``(n,)``.

    The weights that logistic regression with a squared penalty finds lie in the span of the vectors that fit it, so
    that with more features than vectors the coordinates in that span give the same probe sooner.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(fitted.astype(np.float64))
    known, new = (np.asarray(scaler.transform(vectors.astype(np.float64))) for vectors in (fitted, tested))
    if known.shape[1] > len(known):
        span = np.linalg.svd(known, full_matrices=False)[2].T
        known, new = known @ span, new @ span
    probe = LogisticRegression(max_iter=MOST_ITERATIONS).fit(known, of_fitted)
    return float(probe.score(new, of_tested))


def run(context: Context, options: Options) -> None:
    """Probe the cells of each model on each dataset."""
    if options.models:
        for name in filter(models.is_estimator, chosen_models(options.models)):
            context.say(f"left out: {name} is an estimator, which has no features to probe")
    chosen = context.chosen(options, default_models="all", default_datasets="all")
    for records in chosen:
        cell = records[0].cell
        context.say(
            f"{cell.model} on {cell.dataset}: seeds {', '.join(str(record.cell.seed) for record in records)}"
        )
        context.write(analyse_cells(context, records, options))


def analyse_cells(context: Context, records: list[Record], options: Options) -> SubjectProbeRecord:
    """Probe cells that differ in the seed alone, see `bench.analyses.trained.alike`, on the same windows.

    Raises
    ------
    RecordError, DataError, ModelError
        Weights or data are not those of the records, too few subjects have windows enough, or the model has no
        features.
    """
    part = trained_data(records[0], context.root_for(records)).part("train")
    generator = np.random.default_rng(derived_seed(options.seed, "probed subjects"))
    windows = probe_windows(part, options.subjects, options.windows, generator)
    of_fitted, of_tested = windows.fitted.part_subjects, windows.tested.part_subjects

    def probed(model: nn.Module, seed: int) -> tuple[float, int]:
        fitted, tested = (features_of(model, half, seed) for half in (windows.fitted, windows.tested))
        return recognised(fitted, tested, of_fitted, of_tested), fitted.shape[1]

    seeds, n_features = [], 0
    for record in records:
        seed = record.cell.seed
        trained, n_features = probed(load_trained(context.out, record), seed)
        seeds.append(SeedProbe(seed=seed, trained=trained, untrained=probed(untrained(record), seed)[0]))
    raw = [half.windows[half.rows].reshape(len(half), -1) for half in (windows.fitted, windows.tested)]
    return SubjectProbeRecord(
        cells=AnalysedCells.of(records),
        draw_seed=options.seed,
        n_subjects=len(np.unique(of_fitted)),
        n_subjects_of_part=len(np.unique(part.part_subjects)),
        n_fitted=len(windows.fitted),
        n_between=windows.n_between,
        n_tested=len(windows.tested),
        n_features=n_features,
        raw=recognised(raw[0], raw[1], of_fitted, of_tested),
        chance=windows.chance,
        seeds=tuple(seeds),
    )
