"""The record of how windows lie in the space of a model's features: by class or by person, in numbers and as a map."""

from typing import Literal

from bench.analyses.analysed import AnalysedCells
from bench.analyses.analysis_record import AnalysisRecord, Part

NAME = "embedding"

Quantity = Literal[
    "silhouette_class", "silhouette_subject", "class_from_others", "class_from_all", "subject_from_all"
]


class SeedEmbedding(Part):
    """What the features of one trained cell separate.

    Silhouettes, from -1 to 1, with windows labelled by class and by subject. Shares of windows whose nearest
    neighbours, by vote, have their class (neighbours of other subjects only; any other window) and their subject
    (any other window). None where there is nothing to tell apart.
    """

    seed: int
    silhouette_class: float | None
    silhouette_subject: float | None
    class_from_others: float | None
    class_from_all: float | None
    subject_from_all: float | None


class EmbeddingRecord(AnalysisRecord):
    """All trained seeds of one model on one dataset, on the same drawn test windows for every model.

    ``largest_class``, ``largest_subject`` are the shares of windows that the most frequent label gets right, and
    ``constant_from_others`` the share that the most frequent class of the other subjects' windows does.
    ``map_seed`` is the cell that the map shows; its positions (n, 2), label and subject of each window (n,) lie in the
    file with ``arrays_sha256``. ``tsne_seed`` starts t-SNE, ``n_components`` are what PCA leaves for it.
    """

    cells: AnalysedCells
    n_windows: int
    n_subjects: int
    n_features: int
    largest_class: float
    constant_from_others: float | None
    largest_subject: float
    n_neighbours: int
    perplexity: float
    tsne_seed: int
    n_components: int
    map_seed: int
    seeds: tuple[SeedEmbedding, ...]
    arrays_sha256: str
