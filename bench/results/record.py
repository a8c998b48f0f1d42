"""The record of a cell: one JSON file about one training, whatever its outcome."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from bench.datasets.contract import Normalisation
from bench.results.frozen_model import FrozenModel

SCHEMA = 1
PREDICTIONS, WEIGHTS = "predictions.npz", "weights.safetensors"

Outcome = Literal["ok", "failed", "timeout", "out-of-memory", "diverged"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class CellName(FrozenModel):
    """The name of the record's cell."""

    model: str
    dataset: str
    seed: int
    recipe: str


class ClassScores(FrozenModel):
    """Scores of one class; ``support`` is its number of windows."""

    precision: float
    recall: float
    f1: float
    auroc: float | None
    auprc: float | None
    support: int


class Scores(FrozenModel):
    """Scores of one part of the data, as fractions of one.

    All but accuracy are macro means over the classes present in the part; ``absent_classes`` names the rest.
    AUROC and AUPRC are None where no class can be ranked against another.
    """

    accuracy: float
    precision: float
    recall: float
    f1: float
    auroc: float | None
    auprc: float | None
    loss: float
    n_windows: int
    n_subjects: int
    absent_classes: tuple[str, ...] = ()
    per_class: dict[str, ClassScores]


class Metrics(FrozenModel):
    """Scores of the validation part and of the test part with the same checkpoint."""

    val: Scores
    test: Scores


class Epoch(FrozenModel):
    """One epoch of training. ``learning_rate`` is that of its last step; ``seconds`` is wall time."""

    epoch: int
    train_loss: float
    val_loss: float
    val_f1: float
    learning_rate: float
    seconds: float


class Failure(FrozenModel):
    """Why a cell has no scores."""

    kind: str
    message: str
    traceback: str = ""


class Timing(FrozenModel):
    """Start and durations, in seconds of wall time."""

    started: str
    load_s: float = 0.0
    train_s: float = 0.0
    test_s: float = 0.0
    total_s: float


class Parameters(FrozenModel):
    """Numbers of trainable parameters: in the forward pass, and in total."""

    forward: int
    total: int


class Environment(FrozenModel):
    """Machine and software of a cell. Only equal environments promise equal results.

    ``driver`` names a GPU's driver, CUDA and cuDNN; ``ranks`` is how many processes trained the cell together;
    ``tf32`` is whether float32 products were rounded to TF32, None in records from before it was noted.
    """

    device: str
    device_name: str
    driver: str | None = None
    ranks: int = 1
    threads: int
    precision: str
    deterministic: bool
    scan_backend: str | None
    attention_backend: str | None = None
    tf32: bool | None = None
    platform: str
    versions: dict[str, str]


PartName = Literal["train", "validation", "test"]


class SplitCounts(FrozenModel):
    """Subjects and windows per class (in label order) of one part of the split."""

    n_subjects: int
    n_windows: int
    windows_per_class: tuple[int, ...]


class DataDescription(FrozenModel):
    """The data that the cell was trained and tested on."""

    title: str
    kind: Literal["whole", "excerpt", "simulated", "own"]
    version: str
    fingerprint: str
    normalisation: Normalisation
    split_origin: str
    class_names: tuple[str, ...]
    n_times: int
    n_channels: int
    parts: dict[PartName, SplitCounts]
    n_train_windows_used: int
    n_skipped_records: int = 0


class Record(FrozenModel):
    """One cell, done or failed. ``files`` maps the names beside the record to their hashes.

    A done cell has metrics, predictions and weights; any other cell has an error and no metrics.
    """

    schema_version: Literal[1] = Field(alias="schema")
    key: Sha256
    cell: CellName
    settings: dict[str, Any]
    revisions: dict[Literal["model", "trainer"], int | str]
    outcome: Outcome
    error: Failure | None = None
    metrics: Metrics | None = None
    history: tuple[Epoch, ...] = ()
    best_epoch: int | None = None
    micro_batch_size_used: int | None = None
    timing: Timing
    peak_memory_bytes: int | None = None
    parameters: Parameters | None = None
    environment: Environment
    data: DataDescription
    files: dict[str, Sha256] = Field(default_factory=dict)

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="after")
    def _outcome_fits(self) -> "Record":
        if self.outcome == "ok":
            lacking = [name for name in (PREDICTIONS, WEIGHTS) if name not in self.files]
            lacking += ["metrics"] if self.metrics is None else []
            if lacking or self.error is not None:
                raise ValueError(f"outcome ok, but {f'no {lacking[0]}' if lacking else 'an error'}")
        elif self.error is None or self.metrics is not None:
            raise ValueError(f"outcome {self.outcome}, but {'metrics' if self.error else 'no error'}")
        return self

    @property
    def is_done(self) -> bool:
        """Tell whether the cell has scores."""
        return self.outcome == "ok"

    @property
    def whole_time_s(self) -> float:
        """Seconds of the cell with all its epochs, those before an interruption included."""
        timing, epochs_s = self.timing, sum(epoch.seconds for epoch in self.history)
        return timing.total_s + max(0.0, epochs_s - timing.train_s)
