"""One cell from its data to its record: load, train, test once, write."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from safetensors.torch import save_file
from torch import nn

from bench import datasets, models
from bench.datasets.contract import Dataset, Split
from bench.files import atomic_file, sha256_of
from bench.measure.parameters import count_parameters
from bench.results.record import Epoch, Metrics, Record, Timing
from bench.results.store import write_record
from bench.run import checkpoint, environment
from bench.run.job import Job
from bench.run.memory import peak_memory_bytes
from bench.train.evaluate import predict
from bench.train.fit import Fit
from bench.train.part import Part
from bench.train.scores import score
from bench.train.seeding import derived_seed, seed_default_generators

OnEpoch = Callable[[Epoch], None]


@dataclass(frozen=True)
class Parts:
    """The three parts of a dataset, apart; training gets the first two only."""

    train: Part
    validation: Part
    test: Part

    @classmethod
    def of(cls, dataset: Dataset, split: Split) -> "Parts":
        """Cut a dataset along a split."""

        def part(subjects: tuple[str, ...]) -> Part:
            return Part(dataset.windows, dataset.labels, dataset.subject, dataset.indices(subjects))

        return cls(part(split.train), part(split.validation), part(split.test))


def run_cell(job: Job, on_epoch: OnEpoch) -> Record:
    """Train, test and record one cell; return the record that was written.

    Raises
    ------
    DivergedError
        A loss or a logit was not finite.
    """
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    settings, description = job.cell.settings, job.cell.data.description
    dataset = datasets.load(settings.dataset, job.data, description.normalisation, job.cell.data.split)
    parts = Parts.of(dataset, job.cell.data.split)
    train = _draw(parts.train, settings.training.max_train_windows, settings.seed)
    loaded = time.perf_counter()

    seed_default_generators(settings.seed)
    model = build_model(job, dataset).to(job.device)
    parameters = count_parameters(model, dataset.facts.n_times, dataset.facts.n_channels)
    fit = train_to_end(job, model, train, parts.validation, on_epoch)
    trained = time.perf_counter()

    model.load_state_dict(fit.best_weights)
    batch_size, class_names = settings.training.batch_size, dataset.facts.class_names
    val_logits = predict(model, parts.validation, batch_size, settings.seed)
    test_logits = predict(model, parts.test, batch_size, settings.seed)
    metrics = Metrics(
        val=score(val_logits, parts.validation.part_labels, parts.validation.part_subjects, class_names),
        test=score(test_logits, parts.test.part_labels, parts.test.part_subjects, class_names),
    )
    tested = time.perf_counter()

    write_predictions(job, dataset, parts.test, test_logits)
    with atomic_file(job.folder.weights) as path:
        save_file({name: value.contiguous().cpu() for name, value in fit.best_weights.items()}, path)
    record = Record(
        schema=1,
        key=job.cell.key,
        cell=job.name,
        settings=settings.model_dump(mode="json"),
        revisions=job.cell.revisions,
        outcome="ok",
        metrics=metrics,
        history=tuple(fit.history),
        best_epoch=fit.best_epoch,
        micro_batch_size_used=fit.training.micro_batch_size,
        timing=Timing(
            started=started,
            load_s=loaded - clock,
            train_s=trained - loaded,
            test_s=tested - trained,
            total_s=time.perf_counter() - clock,
        ),
        peak_memory_bytes=peak_memory_bytes(job.device),
        parameters=parameters,
        environment=environment.describe(
            job.device, job.threads, settings.training.precision, getattr(model, "scan_backend", None)
        ),
        data=description,
        files={path.name: sha256_of(path) for path in (job.folder.predictions, job.folder.weights)},
    )
    write_record(job.folder, record)
    job.folder.checkpoint.unlink(missing_ok=True)
    return record


def build_model(job: Job, dataset: Dataset) -> nn.Module:
    """Build the cell's model for the dataset's shape."""
    facts, settings = dataset.facts, job.cell.settings
    return models.build(
        settings.model, facts.n_channels, facts.n_times, facts.n_classes, **settings.hyperparameters
    )


def train_to_end(job: Job, model: nn.Module, train: Part, validation: Part, on_epoch: OnEpoch) -> Fit:
    """Train from the last checkpoint of this cell, or from the start, to the last epoch."""
    training = job.cell.settings.training
    if job.micro_batch_size is not None:
        training = training.model_copy(update={"micro_batch_size": job.micro_batch_size})
    fit = Fit(model, train, validation, training, job.cell.settings.seed)
    if checkpoint.restore(job.folder.checkpoint, job.cell.key, fit):
        print(f"going on after epoch {len(fit.history)}")
    while not fit.finished:
        epoch = fit.run_epoch()
        print(
            f"epoch {epoch.epoch}: train loss {epoch.train_loss:.4f}, validation loss {epoch.val_loss:.4f}, "
            f"validation F1 {epoch.val_f1:.4f}, {epoch.seconds:.1f} s",
            flush=True,
        )
        checkpoint.save(job.folder.checkpoint, job.cell.key, fit)
        on_epoch(epoch)
    return fit


def write_predictions(job: Job, dataset: Dataset, test: Part, logits: np.ndarray) -> None:
    """Write logits, label, subject, source record and position of every test window."""
    with atomic_file(job.folder.predictions) as path, path.open("wb") as file:
        np.savez_compressed(
            file,
            logits=logits,
            label=test.part_labels,
            subject=test.part_subjects,
            record=dataset.record[test.rows],
            window=test.rows,
        )


def _draw(train: Part, at_most: int | None, seed: int) -> Part:
    """Return the training windows of a cell: all, or a seeded draw."""
    if at_most is None:
        return train
    return train.draw(at_most, np.random.default_rng(derived_seed(seed, "training windows")))
