"""The record of a cell: one JSON file about one training, whatever its outcome."""

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from bench.datasets.contract import Normalisation, repeated_name
from bench.results.field_types import Count, Line, Loss, Name, Seed, Size, require_share
from bench.results.frozen_model import FrozenModel
from bench.results.recorded_settings import checked_settings

SCHEMA = 1
PREDICTIONS, WEIGHTS = "predictions.npz", "weights.safetensors"

Outcome = Literal["ok", "failed", "timeout", "out-of-memory", "diverged"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class CellName(FrozenModel):
    """The name of the record's cell."""

    model: Name
    dataset: Name
    seed: Seed
    recipe: Name


class ClassScores(FrozenModel):
    """Scores of one class; ``support`` is its number of windows."""

    precision: float
    recall: float
    f1: float
    auroc: float | None
    auprc: float | None
    support: Count

    _shares = field_validator("precision", "recall", "f1", "auroc", "auprc")(require_share)


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
    loss: Loss
    n_windows: Count
    n_subjects: Count
    absent_classes: tuple[Line, ...] = ()
    per_class: dict[Line, ClassScores]

    _shares = field_validator("accuracy", "precision", "recall", "f1", "auroc", "auprc")(require_share)


class Metrics(FrozenModel):
    """Scores of the validation part and of the test part with the same checkpoint."""

    val: Scores
    test: Scores


class Epoch(FrozenModel):
    """One epoch of training. ``learning_rate`` is that of its last step; ``seconds`` is wall time."""

    epoch: Count
    train_loss: float
    val_loss: float
    val_f1: float
    learning_rate: float
    seconds: float

    _shares = field_validator("val_f1")(require_share)


class Failure(FrozenModel):
    """Why a cell has no scores."""

    kind: Line
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

    forward: Count
    total: Count


class Environment(FrozenModel):
    """Machine and software of a cell. Only equal environments promise equal results.

    ``driver`` names a GPU's driver, CUDA and cuDNN; ``ranks`` is how many processes trained the cell together;
    ``tf32`` is whether float32 products were rounded to TF32, None in records from before it was noted.
    """

    device: Name
    device_name: Line
    driver: Line | None = None
    ranks: Size = 1
    threads: Size
    precision: Line
    deterministic: bool
    scan_backend: Line | None
    attention_backend: Line | None = None
    tf32: bool | None = None
    platform: Line
    versions: dict[Line, Line]


PartName = Literal["train", "validation", "test"]


class SplitCounts(FrozenModel):
    """Subjects and windows per class (in label order) of one part of the split."""

    n_subjects: Count
    n_windows: Count
    windows_per_class: tuple[Count, ...]

    @model_validator(mode="after")
    def _classes_add_up(self) -> "SplitCounts":
        found = sum(self.windows_per_class)
        if found != self.n_windows:
            raise ValueError(f"{self.n_windows} windows, but {found} in its classes")
        return self


class DataDescription(FrozenModel):
    """The data that the cell was trained and tested on.

    ``share`` is the part of the published windows that are there, as far as it is known. ``attainable`` holds by
    metric, from 0 to 1, what no classifier of single windows is expected to exceed; known of simulated data alone.
    """

    title: Line
    kind: Literal["whole", "converted", "excerpt", "simulated", "own"]
    version: Line
    fingerprint: Line
    normalisation: Normalisation
    split_origin: Line
    class_names: tuple[Line, ...] = Field(min_length=1)
    n_times: Size
    n_channels: Size
    parts: dict[PartName, SplitCounts]
    n_train_windows_used: Count
    n_skipped_records: Count = 0
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    remark: Line = ""
    attainable: dict[Literal["accuracy", "f1"], Annotated[float, Field(ge=0, le=1)]] = Field(default={})

    @model_validator(mode="after")
    def _parts_fit(self) -> "DataDescription":
        twice = repeated_name(self.class_names)
        if twice is not None:
            raise ValueError(f"two classes are named {twice!r}")
        for name in get_args(PartName):
            if name not in self.parts:
                raise ValueError(f"no {name} part")
            n_classes = len(self.parts[name].windows_per_class)
            if n_classes != len(self.class_names):
                raise ValueError(f"{len(self.class_names)} classes, but the {name} part counts {n_classes}")
        return self


class Rescored(FrozenModel):
    """When saved predictions gave a record scores that it lacked: by which version, on which day, and which scores."""

    version: Line
    date: Line
    filled: tuple[Line, ...]


class Record(FrozenModel):
    """One cell, done or failed. ``files`` maps the names beside the record to their hashes.

    ``model_spec`` is what ``--models`` takes for the model where that is not its name, as for a class of an installed
    package. ``fitted_state`` is the file that holds what was fitted: a network's weights, or an estimator as the
    package at the end of the name wrote it; None where nothing is kept. ``revisions`` of an estimator name the packages
    that its code comes from. A done cell has metrics, predictions and the fitted state that it names; any other cell
    has an error and no metrics. A training that tried a configuration has scores of the ``validation`` part alone and
    no files: its test part was never loaded.
    """

    schema_version: Literal[1] = Field(alias="schema")
    key: Sha256
    cell: CellName
    settings: Annotated[dict[str, Any], AfterValidator(checked_settings)]
    revisions: dict[Literal["model", "trainer", "packages"], Count | Line]
    outcome: Outcome
    error: Failure | None = None
    metrics: Metrics | None = None
    validation: Scores | None = None
    history: tuple[Epoch, ...] = ()
    best_epoch: Count | None = None
    micro_batch_size_used: Size | None = None
    timing: Timing
    peak_memory_bytes: Count | None = None
    parameters: Parameters | None = None
    fitted_state: str | None = WEIGHTS
    model_spec: str | None = None
    environment: Environment
    data: DataDescription
    files: dict[Name, Sha256] = Field(default_factory=dict)
    rescored: Rescored | None = None

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="after")
    def _outcome_fits(self) -> "Record":
        if self.validation is not None and (self.outcome != "ok" or self.metrics or self.files):
            raise ValueError("validation scores alone, but another outcome, metrics or files too")
        if self.outcome == "ok" and self.validation is None:
            named = (PREDICTIONS, *([self.fitted_state] if self.fitted_state else []))
            lacking = [name for name in named if name not in self.files]
            lacking += ["metrics"] if self.metrics is None else []
            if lacking or self.error is not None:
                raise ValueError(f"outcome ok, but {f'no {lacking[0]}' if lacking else 'an error'}")
        elif self.outcome != "ok" and (self.error is None or self.metrics is not None):
            raise ValueError(f"outcome {self.outcome}, but {'metrics' if self.error else 'no error'}")
        return self

    @model_validator(mode="after")
    def _parts_agree(self) -> "Record":
        missing = {"model", "trainer"} - self.revisions.keys()
        if missing:
            raise ValueError(f"no revision of the {min(missing)}")
        scores = (self.metrics.val, self.metrics.test) if self.metrics else ()
        unknown = {name for part in scores for name in part.per_class} - set(self.data.class_names)
        if unknown:
            raise ValueError(f"scores of a class {min(unknown)!r} that the data does not have")
        return self

    @property
    def is_done(self) -> bool:
        """Tell whether the cell has scores."""
        return self.outcome == "ok"

    @property
    def control(self) -> str | None:
        """What was changed on purpose so that nothing could be learned; None of a result."""
        return self.settings.get("control")

    @property
    def is_estimator(self) -> bool:
        """Tell whether the cell's model was an estimator: without epochs, batches and weights."""
        return self.fitted_state != WEIGHTS

    @property
    def whole_time_s(self) -> float:
        """Seconds of the cell with all its epochs, those before an interruption included."""
        timing, epochs_s = self.timing, sum(epoch.seconds for epoch in self.history)
        return timing.total_s + max(0.0, epochs_s - timing.train_s)
