"""The record of whether a model's features cluster windows by class or by person, in numbers and as a map."""

from typing import Literal

from pydantic import Field

from bench.analyses import contract
from bench.analyses.analysis_record import CellsRecord
from bench.results.frozen_model import FrozenModel

NAME = "embedding"

Quantity = Literal[
    "silhouette_class", "silhouette_subject", "class_from_others", "class_from_all", "subject_from_all"
]


class SeedEmbedding(FrozenModel):
    """How well the features of one trained cell separate classes and subjects.

    Silhouettes, from -1 to 1, with windows labelled by class and by subject. Shares of windows whose nearest
    neighbours, by vote, have their class (neighbours of other subjects only; any other window) and their subject
    (any other window). None if there is only one class or subject.
    """

    seed: int
    silhouette_class: float | None
    silhouette_subject: float | None
    class_from_others: float | None
    class_from_all: float | None
    subject_from_all: float | None


class EmbeddingRecord(CellsRecord):
    """All trained seeds of one model on one dataset, on the same drawn test windows for every model.

    ``largest_class``, ``largest_subject`` are the shares of windows that the most frequent label gets right, and
    ``constant_from_others`` the share that the most frequent class of the other subjects' windows does.
    ``map_seed`` is the cell that the map shows; its positions (n, 2), label and subject of each window (n,) lie in the
    file with ``arrays_sha256``. ``tsne_seed`` starts t-SNE, ``n_components`` are what PCA leaves for it.
    """

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


class Options(contract.CellOptions):
    """What ``bench analyze embedding`` asks for."""

    models: str | None = Field(
        default=None,
        description="A comma list of names, or all. [default: medformer and medmamba, if trained]",
    )
    datasets: str | None = Field(
        default=None,
        description="A comma list of names, or all. [default: adftd and ptb-xl, if models were trained on them]",
    )
    windows: int = Field(default=1500, ge=20, description="Largest number of windows of each test part.")


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Embedding",
    summary="Whether features separate classes or people, with t-SNE maps.",
    examples=(
        "bench analyze embedding",
        "bench analyze embedding --models medmamba,patchtst --datasets uci-har --data DIR --out results",
    ),
    options=Options,
    record=EmbeddingRecord,
    package="bench.analyses.embedding",
)
