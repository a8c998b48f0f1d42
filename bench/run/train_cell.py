"""One cell from its data to its record: load, train, test once, write."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from bench.files import sha256_of
from bench.measure.memory import peak_bytes
from bench.measure.parameters import count_parameters
from bench.measure.tf32 import forbid_tf32
from bench.results.record import Epoch, Metrics, Record, Timing
from bench.results.store import write_record
from bench.run import checkpoint
from bench.run.cell_files import write_predictions, write_weights
from bench.run.ended import earlier_record
from bench.run.failure import environment_of, identity_of
from bench.run.job import Job
from bench.run.planned_inputs import Parts, build_model, drawn_train, load_data
from bench.run.scoring import tested
from bench.train.fit import Fit, MakeFit
from bench.train.seeding import seed_default_generators

OnEpoch = Callable[[Epoch], None]


def run_cell(job: Job, on_epoch: OnEpoch, make_fit: MakeFit = Fit) -> tuple[Record, str]:
    """Train, test and record one cell; return the record that it has now, and a remark on it.

    ``make_fit`` makes the training; it may change the model in place.

    Raises
    ------
    DivergedError
        A loss or a logit was not finite.
    DataError, ModelError
        The data, or a user's own model, is not what it was when the cell was planned.
    """
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    forbid_tf32()
    settings = job.cell.settings
    dataset = load_data(job)
    parts = Parts.of(dataset, job.cell.data.split)
    train = drawn_train(parts.train, settings)
    loaded = time.perf_counter()

    seed_default_generators(settings.seed)
    model = build_model(job, dataset).to(job.device)
    parameters = count_parameters(model, dataset.facts.n_times, dataset.facts.n_channels)
    fit = make_fit(model, train, parts.validation, job.training, settings.seed)
    train_to_end(job, fit, on_epoch)
    trained = time.perf_counter()

    model.load_state_dict(fit.best_weights)
    val_scores, _ = tested(model, parts.validation, job, dataset)
    test_scores, test_logits = tested(model, parts.test, job, dataset)
    metrics = Metrics(val=val_scores, test=test_scores)
    ended = time.perf_counter()

    backends = (getattr(model, name, None) for name in ("scan_backend", "attention_backend"))
    environment = environment_of(job, *backends)
    kept, note = earlier_record(job, metrics, environment)
    if kept is None:
        write_predictions(job, dataset, parts.test, test_logits)
        write_weights(job, fit)
        kept = Record(
            **identity_of(job),
            outcome="ok",
            metrics=metrics,
            history=tuple(fit.history),
            best_epoch=fit.best_epoch,
            micro_batch_size_used=fit.training.micro_batch_size,
            timing=Timing(
                started=started,
                load_s=loaded - clock,
                train_s=trained - loaded,
                test_s=ended - trained,
                total_s=time.perf_counter() - clock,
            ),
            peak_memory_bytes=peak_bytes(job.device),
            parameters=parameters,
            environment=environment,
            files={path.name: sha256_of(path) for path in (job.folder.predictions, job.folder.weights)},
        )
        write_record(job.folder, kept)
    job.folder.checkpoint.unlink(missing_ok=True)
    return kept, note


def train_to_end(job: Job, fit: Fit, on_epoch: OnEpoch) -> None:
    """Train from the last checkpoint of this cell, or from the start, to the last epoch."""
    if checkpoint.restore(job, fit):
        print(f"going on after epoch {len(fit.history)}")
    while not fit.finished:
        epoch = fit.run_epoch()
        print(
            f"epoch {epoch.epoch}: train loss {epoch.train_loss:.4f}, validation loss {epoch.val_loss:.4f}, "
            f"validation F1 {epoch.val_f1:.4f}, {epoch.seconds:.1f} s",
            flush=True,
        )
        checkpoint.save(job, fit)
        on_epoch(epoch)
