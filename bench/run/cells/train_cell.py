"""One cell from its data to its record: load, train, test once, write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import nn

from bench.datasets.contract import Dataset
from bench.files import atomic_file
from bench.measure.parameters import count_parameters
from bench.measure.tf32 import forbid_tf32
from bench.results.record import Environment, Metrics, Record
from bench.run import checkpoint
from bench.run.cells.finished_cell import CellClock, Tested, finish, tested
from bench.run.failure import environment_of
from bench.run.job import Job
from bench.run.news import OnPosition, Position, now_and_then
from bench.run.planned_inputs import FittingParts, Parts, build_model, fitting_windows, load_data
from bench.train.fit import Fit, MakeFit
from bench.train.seeding import seed_default_generators


def run_cell(job: Job, on_position: OnPosition, make_fit: MakeFit = Fit) -> tuple[Record, str]:
    """Train, test and record one cell; return the record that it has now, and a remark on it.

    ``make_fit`` makes the training; it may change the model in place.

    Raises
    ------
    DivergedError
        A loss or a logit was not finite.
    DataError, ModelError
        The data, or a user's own model, is not what it was when the cell was planned.
    """
    clock = CellClock()
    dataset = load_data(job)
    parts = Parts.of(dataset, job.cell.data.split)
    found = train_network(job, dataset, parts, clock, on_position, make_fit)
    val_scores, _ = tested(found.model, parts.validation, job, dataset)
    test_scores, test_logits = tested(found.model, parts.test, job, dataset)
    clock.lap()
    kept, note = finish(
        job,
        Tested(Metrics(val=val_scores, test=test_scores), dataset, parts.test, test_logits),
        found.environment,
        clock,
        lambda: (_written_weights(job, found.fit),),
        **found.fields,
    )
    job.folder.checkpoint.unlink(missing_ok=True)
    return kept, note


@dataclass(frozen=True)
class TrainedNetwork:
    """A network with its best weights, as trained, and where; ``fields`` are what its record says of the training."""

    model: nn.Module
    fit: Fit
    environment: Environment
    fields: dict[str, Any]


def train_network(
    job: Job,
    dataset: Dataset,
    parts: FittingParts,
    clock: CellClock,
    on_position: OnPosition,
    make_fit: MakeFit = Fit,
) -> TrainedNetwork:
    """Train a cell's network to the end, from its checkpoint where it has one; ends loading and training on the clock.

    Raises
    ------
    DivergedError
        A loss or a logit was not finite.
    ModelError
        A user's own model is not what it was when the cell was planned.
    """
    forbid_tf32()
    settings = job.cell.settings
    train, validation = fitting_windows(parts, settings)
    clock.lap()
    seed_default_generators(settings.seed)
    model = build_model(job, dataset).to(job.device)
    parameters = count_parameters(model, dataset.facts.n_times, dataset.facts.n_channels)
    fit = make_fit(model, train, validation, job.training, settings.seed)
    _train_to_end(job, fit, on_position)
    clock.lap()
    model.load_state_dict(fit.best_weights)
    backends = (getattr(model, name, None) for name in ("scan_backend", "attention_backend"))
    fields = {
        "history": tuple(fit.history),
        "best_epoch": fit.best_epoch,
        "micro_batch_size_used": fit.training.micro_batch_size,
        "parameters": parameters,
    }
    return TrainedNetwork(model, fit, environment_of(job, *backends), fields)


def _written_weights(job: Job, fit: Fit) -> Path:
    """Write the weights that were tested."""
    weights = {name: value.contiguous().cpu() for name, value in fit.best_weights.items()}
    with atomic_file(job.folder.weights) as path:
        # safetensors' own writer hides the reason of a write error.
        path.write_bytes(save(weights))
    return job.folder.weights


def _train_to_end(job: Job, fit: Fit, on_position: OnPosition) -> None:
    """Train from the last checkpoint of this cell, or from the start, to the last epoch."""
    if checkpoint.restore(job, fit):
        print(f"going on after epoch {len(fit.history)}")
    tell = now_and_then(on_position)
    on_position(_position(fit))
    while not fit.finished:
        epoch = fit.run_epoch(lambda share: tell(_position(fit, share)))
        print(
            f"epoch {epoch.epoch}: train loss {epoch.train_loss:.4f}, validation loss {epoch.val_loss:.4f}, "
            f"validation F1 {epoch.val_f1:.4f}, {epoch.seconds:.1f} s",
            flush=True,
        )
        checkpoint.save(job, fit)
        on_position(_position(fit))


def _position(fit: Fit, share: float = 0.0) -> Position:
    """Return how far a training is, with a share of its next epoch."""
    history = fit.history
    return Position(len(history) + share, history[-1].val_f1 if history else None)
