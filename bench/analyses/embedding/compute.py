"""Whether test windows cluster by class or by person in a model's features, before its classifier.

Source of the picture: MedMamba paper, section "t-SNE Visualization"; van der Maaten and Hinton (2008) for t-SNE,
Rousseeuw (1987) for the silhouette. t-SNE can show clusters that are not there, so numbers stand beside it:
all use Euclidean distances between the unscaled features.
"""

import numpy as np
from numpy.typing import NDArray

from bench.analyses.analysed_cells import AnalysedCells, stem_of
from bench.analyses.context import Context
from bench.analyses.embedding.record import EmbeddingRecord, Options, SeedEmbedding
from bench.analyses.features import features_of
from bench.analyses.trained import load_trained, test_part
from bench.errors import RecordError
from bench.results.record import Record
from bench.train.part import Part, interleaved

SEED = 41
N_NEIGHBOURS = 15
PERPLEXITY = 30.0
N_COMPONENTS = 50
WINDOWS_A_SUBJECT = 10


def draw_windows(part: Part, n_windows: int, generator: np.random.Generator) -> Part:
    """Return at most about ``n_windows`` windows, drawn subject by subject; all if the part has no more.

    Subjects are drawn with the classes in their proportions. Each brings at most as many windows as an equal share
    gives, but at least `WINDOWS_A_SUBJECT` if it has them: a person with one window cannot form a cluster.
    """
    if n_windows >= len(part):
        return part
    subjects, labels = part.part_subjects, part.part_labels
    names, first = np.unique(subjects, return_index=True)
    share = max(WINDOWS_A_SUBJECT, n_windows // len(names))
    chosen: list[NDArray[np.int64]] = []
    for name in names[interleaved(labels[first], generator)]:
        members = generator.permutation(np.flatnonzero(subjects == name))[:share]
        if sum(map(len, chosen)) + len(members) > n_windows and chosen:
            break
        chosen.append(members)
    return Part(part.windows, part.labels, part.subject, part.rows[np.sort(np.concatenate(chosen))])


def neighbour_accuracy(
    distances: NDArray[np.floating], labels: NDArray, allowed: NDArray[np.bool_], n_neighbours: int
) -> float | None:
    """Return the share of windows whose nearest allowed neighbours vote for their label.

    Parameters
    ----------
    distances, allowed
        ``(n, n)``: between windows, and whether the window of the column may vote on the window of the row.
    labels
        ``(n,)`` of any type.
    n_neighbours
        Votes; fewer if fewer are allowed. Of labels with equal votes, the label with nearer neighbours wins.

    Windows with no allowed neighbour are left out; None if that leaves no window.
    """
    _, codes = np.unique(labels, return_inverse=True)
    hits = []
    for own, row, may in zip(codes, distances, allowed, strict=True):
        nearest = np.flatnonzero(may)[np.argsort(row[may], kind="stable")[:n_neighbours]]
        if len(nearest):
            weights = 1.0 - 1e-6 * np.arange(len(nearest))
            hits.append(np.bincount(codes[nearest], weights).argmax() == own)
    return float(np.mean(hits)) if hits else None


def constant_from_others(labels: NDArray, subjects: NDArray) -> float | None:
    """Return the share of windows whose label is the most frequent one of all windows of other subjects."""
    others = subjects[:, None] != subjects
    return neighbour_accuracy(np.zeros(others.shape), labels, others, len(labels))


def silhouette(distances: NDArray[np.floating], labels: NDArray) -> float | None:
    """Return the mean silhouette of windows by their labels; None where all labels are equal or all differ."""
    from sklearn.metrics import silhouette_score

    n_labels = len(np.unique(labels))
    if not 2 <= n_labels < len(labels):
        return None
    return float(silhouette_score(distances, labels, metric="precomputed"))


def separation(features: NDArray[np.floating], part: Part, seed: int) -> SeedEmbedding:
    """Return how well the features of one cell ``(n, n_features)`` separate classes and subjects."""
    from sklearn.metrics import pairwise_distances

    distances = pairwise_distances(features.astype(np.float64))
    np.fill_diagonal(distances, 0.0)
    labels, subjects = part.part_labels, part.part_subjects
    others = subjects[:, None] != subjects
    not_itself = ~np.eye(len(part), dtype=bool)
    has_company = (not_itself & ~others).any(axis=1)
    return SeedEmbedding(
        seed=seed,
        silhouette_class=silhouette(distances, labels),
        silhouette_subject=silhouette(distances, subjects),
        class_from_others=neighbour_accuracy(distances, labels, others, N_NEIGHBOURS),
        class_from_all=neighbour_accuracy(distances, labels, not_itself, N_NEIGHBOURS),
        subject_from_all=neighbour_accuracy(
            distances, subjects, not_itself & has_company[:, None], N_NEIGHBOURS
        ),
    )


def perplexity_for(n_windows: int) -> float:
    """Return `PERPLEXITY`, or a third of the number of other windows if that is smaller."""
    return min(PERPLEXITY, (n_windows - 1) / 3)


def make_map(features: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return t-SNE's position of each window ``(n, 2)``, after PCA to at most `N_COMPONENTS`.

    The same features give the same map on the same machine.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    n_components = min(N_COMPONENTS, *features.shape)
    reduced = PCA(n_components, random_state=SEED).fit_transform(features.astype(np.float64))
    tsne = TSNE(perplexity=perplexity_for(len(features)), init="pca", random_state=SEED)
    return tsne.fit_transform(reduced).astype(np.float32)


def run(context: Context, options: Options) -> None:
    """Map the features of test windows by t-SNE, and measure whether they cluster by class or by subject."""
    chosen = context.chosen(options, default_models="medformer,medmamba", default_datasets="adftd,ptb-xl")
    for records in chosen:
        cell = records[0].cell
        context.say(
            f"{cell.model} on {cell.dataset}: seeds {', '.join(str(record.cell.seed) for record in records)}"
        )
        context.write(analyse_cells(context, records, options.windows))


def analyse_cells(context: Context, records: list[Record], n_windows: int) -> EmbeddingRecord:
    """Analyse cells that differ in the seed alone, see `bench.analyses.trained.alike`; write the arrays.

    The map is of the first cell; at most ``n_windows`` test windows are taken, see `draw_windows`.

    Raises
    ------
    RecordError, DataError
        Weights or data are not those of the records, or a model gives all windows the same features.
    """
    cells = AnalysedCells.of(records)
    part = draw_windows(
        test_part(records[0], context.root_for(records)), n_windows, np.random.default_rng(SEED)
    )
    features = [features_of(load_trained(context.out, record), part, record.cell.seed) for record in records]
    for seed, feature in zip(cells.seeds, features, strict=True):
        if not np.ptp(feature, axis=0).any():
            raise RecordError(
                f"{context.out}: {cells.model} on {cells.dataset}, seed {seed}, gives all windows the same "
                "features: there is nothing to map; train it longer"
            )
    labels, subjects = part.part_labels, part.part_subjects
    arrays = {"position": make_map(features[0]), "label": labels, "subject": subjects}
    return EmbeddingRecord(
        cells=cells,
        n_windows=len(part),
        n_subjects=len(np.unique(subjects)),
        n_features=features[0].shape[1],
        largest_class=_largest_share(labels),
        constant_from_others=constant_from_others(labels, subjects),
        largest_subject=_largest_share(subjects),
        n_neighbours=N_NEIGHBOURS,
        perplexity=perplexity_for(len(part)),
        tsne_seed=SEED,
        n_components=min(N_COMPONENTS, *features[0].shape),
        map_seed=cells.seeds[0],
        seeds=tuple(
            separation(feature, part, seed) for seed, feature in zip(cells.seeds, features, strict=True)
        ),
        arrays_sha256=context.write_arrays(stem_of(cells), arrays),
    )


def _largest_share(labels: NDArray) -> float:
    return float(np.unique(labels, return_counts=True)[1].max() / len(labels))
